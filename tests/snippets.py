"""A small file in each language, and the names that its chunks must carry, in order."""

from __future__ import annotations

SNIPPETS: dict[str, bytes] = {}
NAMES: dict[str, list[str]] = {}


def _add(language: str, names: str, source: str) -> None:
    SNIPPETS[language] = source.lstrip("\n").encode()
    NAMES[language] = [name.strip() for name in names.split("|") if name.strip()]


_add(
    "python",
    "retry | Store | Store.open | Store.size | Store.Row | Store.Row.key | fallback",
    '''
"""How things are kept."""
import os

try:
    import fast
except ImportError:
    fast = None

# Tries again.
@decorated(times=3)
async def retry(call):
    return await call()


class Store(Base):
    """Keeps rows."""

    limit: int = 3

    @classmethod
    def open(cls, path):
        return cls(path)

    @property
    def size(self):
        def inner():
            return 1
        return inner()

    class Row:
        def key(self): return 1

if os.name == "nt":
    def fallback():
        pass
''',
)
_add(
    "javascript",
    "load | save | Store | Store.constructor | Store.handle | send | Proto.run | table.b",
    """
'use strict'
import fs from 'fs'

/** Loads. */
export async function load(path) {
  return fs.readFile(path)
}

export const save = async (path) => {
  await fs.writeFile(path)
}

export default class Store extends Base {
  constructor() { super() }
  handle = (event) => { this.x = event }
}

exports.send = function (body) {
  return body
}

Proto.prototype.run = function run() {}

table.b = function* () { yield 1 }
""",
)
_add(
    "typescript",
    "Row | Id | Color | Inner | Inner.nested | Store | Store.open | Store.close | Store.find | over | hook",
    """
import { x } from './x'

export interface Row {
  id: number
}
export type Id = string | number
export enum Color { Red }

namespace Inner {
  export function nested(): void {}
}

@Injectable()
export abstract class Store<T> implements Row {
  private readonly rows: T[] = []

  @log() open(path: string): void {}
  abstract close(): void
  find = (id: Id): T => this.rows[0]
}

export function over(a: string): void
export function over(a: number): void
export function over(a: unknown): void {}

export const hook = <T,>(a: T) => a
""",
)
_add(
    "tsx",
    "Props | Button | Panel | Panel.render",
    """
import React from 'react'

interface Props { label: string }

export const Button = ({ label }: Props) => {
  return <button className="a">{label}</button>
}

export class Panel extends React.Component<Props> {
  render() {
    return <div><Button label="x" /></div>
  }
}
""",
)
_add(
    "go",
    "Store | Reader | ID | Store.Open | Store.Len | New",
    """
// Package store keeps rows.
package store

import "errors"

const limit = 3

// Store keeps rows.
type Store[T any] struct {
	rows []T
}

type (
	Reader interface{ Read() error }
	ID     = int
)

// Open opens it.
func (s *Store[T]) Open(path string) error {
	return errors.New("no")
}

func (s Store[T]) Len() int { return 0 }

func New[T any]() *Store[T] { return nil }
""",
)
_add(
    "rust",
    "Store | Store | Store.open | Store | Store.fmt | Named | Named.name | inner | inner.deep | Kind | square",
    """
//! How things are kept.
use std::fmt;

/// Keeps rows.
#[derive(Debug)]
pub struct Store<T> {
    rows: Vec<T>,
}

impl<T> Store<T> {
    /// Opens it.
    #[inline]
    pub fn open(path: &str) -> Self {
        todo!()
    }
}

impl<T> fmt::Display for Store<T> {
    fn fmt(&self) -> fmt::Result { Ok(()) }
}

pub trait Named {
    fn name(&self) -> String;
}

mod inner {
    pub fn deep() {}
}

enum Kind { A, B }

macro_rules! square {
    ($x:expr) => { $x * $x };
}
""",
)
_add(
    "java",
    "Store | Store.Store | Store.open | Store.Kind | Store.Kind.label | Store.Listener | Store.Listener.opened | Point",
    """
package a.b;

import java.util.List;

/** Keeps rows. */
@Deprecated
public class Store<T> extends Base {
    private int limit = 3;

    public Store() {}

    /** Opens it. */
    @Override
    public void open(String path) {
        int x = 1;
    }

    enum Kind {
        A, B;
        String label() { return "a"; }
    }

    interface Listener {
        void opened(String path);
    }
}

record Point(int x, int y) {}
""",
)
_add(
    "kotlin",
    "Store | Store.open | Store.constructor | Store.Companion | Store.Companion.create | Registry | Registry.find "
    "| shout | Id",
    """
package a.b

import java.io.File

/** Keeps rows. */
@Deprecated("no")
class Store<T>(val path: String) : Base() {
    private val limit = 3

    fun open(): Int {
        return 1
    }

    constructor() : this("x")

    companion object Companion {
        fun create() = Store<Int>("x")
    }
}

object Registry {
    fun find(name: String): String? = null
}

fun String.shout(): String = uppercase()

typealias Id = Int
""",
)
_add(
    "c",
    "MIN | option | node_t | color | find | handler | commands | posix_only",
    """
#include <stdio.h>
#define LIMIT 3
#define MIN(a, b) ((a) < (b) ? (a) : (b))

struct forward;

struct option {
	const char *name;
};

typedef struct node {
	int key;
} node_t;

enum color { RED, GREEN };

/*
 * Finds it.
 */
static struct option *find(const char *name)
{
	return NULL;
}

int (*handler(int kind))(int) { return 0; }

static struct option commands[] = {
	{ "add" },
	{ "bisect" },
	{ "clean" },
};

#ifdef POSIX
int posix_only(void)
{
	return 1;
}
#endif
""",
)
_add(
    "cpp",
    "outer | outer.Store | outer.Store.Store | outer.Store.~Store | outer.Store.size | outer.Store.operator== "
    "| outer.Store.Row | outer.largest | outer.Exported | outer.Exported.run | outer.Store.open | Bag.add",
    """
#include <vector>

namespace outer {

/// Keeps rows.
template <typename T>
class Store : public Base {
 public:
  Store() {}
  ~Store() {}
  int size() const { return 1; }
  bool operator==(const Store& other) const { return true; }

 private:
  struct Row {
    int key;
  };
};

template <class T>
T largest(T a, T b) { return a > b ? a : b; }

class API Exported {
  int run() { return 1; }
};

}  // namespace outer

void outer::Store<int>::open(const char* path) {
  int x = 1;
}

int* Bag::add(int key) { return 0; }
""",
)
_add(
    "csharp",
    "Store | Store.Store | Store.Open | Store.Size | Store.+ | IRow | IRow.Key | Point | Kind",
    """
using System;

namespace A.B
{
    /// <summary>Keeps rows.</summary>
    [Serializable]
    public class Store<T> : Base
    {
        private int limit = 3;

        public Store() { }

        public void Open(string path)
        {
            limit = 1;
        }

        public int Size
        {
            get { return limit; }
        }

        public static Store<T> operator +(Store<T> a, Store<T> b)
        {
            return a;
        }
    }

    interface IRow { int Key(); }
    record Point(int X, int Y);
    enum Kind { A, B }
}
""",
)
_add(
    "ruby",
    "Outer.Inner | Outer.Inner.Store | Outer.Inner.Store.open | Outer.Inner.Store.load | Outer.Inner.Store.create "
    "| Outer.Inner.Store.hidden | helper",
    """
require "set"

module Outer::Inner
  # Keeps rows.
  class Store < Base
    attr_reader :rows
    LIMIT = 3

    # Opens it.
    def open(path)
      @path = path
    end

    def self.load(path) = new(path)

    class << self
      def create
        new
      end
    end

    private def hidden
    end
  end
end

def helper
end
""",
)
_add(
    "php",
    "Store | Store.__construct | Store.open | Row | Row.key | Loud | Loud.shout | Kind | Kind.label | helper",
    """
<?php

namespace A\\B;

use X\\Y;

/** Keeps rows. */
#[Final]
abstract class Store extends Base implements Row
{
    private int $limit = 3;

    public function __construct() {}

    /** Opens it. */
    public function open(string $path): void
    {
        $this->x = 1;
    }
}

interface Row { public function key(): int; }
trait Loud { function shout() {} }
enum Kind: string { case A = 'a'; function label() {} }

function helper(int $x): int
{
    return $x;
}
""",
)
_add(
    "swift",
    "Store | Store.init | Store.open | Store.size | Store.Row | Foo | Foo.extra | Named | Named.name | top",
    """
import Foundation

/// Keeps rows.
public class Store<T>: Base {
    var limit: Int = 3

    init(path: String) {
        limit = 1
    }

    @discardableResult
    func open(_ path: String) -> Int { return 1 }

    var size: Int {
        return limit
    }

    struct Row { var key: Int }
}

extension Foo where T: Equatable {
    func extra() {}
}

protocol Named {
    func name() -> String
}

func top() {}
""",
)
_add(
    "scala",
    "Store | Store.open | Store | Store.apply | Named | Named.name | Indented | Indented.run | Ids",
    """
package a.b

import x.Y

/** Keeps rows. */
@deprecated
case class Store[T](path: String) extends Base {
  val limit = 3

  def open(): Int = {
    1
  }
}

object Store {
  def apply(): Store[Int] = new Store("x")
}

trait Named {
  def name: String
}

class Indented:
  def run =
    1

type Ids = List[Int]
""",
)
_add(
    "bash",
    "greet | leave | guarded",
    """
#!/bin/bash
set -eu

# Says hello.
greet() {
  echo "hello $1"
}

function leave {
  exit "${1:-0}"
}

if true; then
  guarded() { :; }
fi

greet world
""",
)
_add(
    "lua",
    "M.open | M.close | helper | M.find | quick",
    """
local M = {}

--- Opens it.
-- @param path where
function M.open(path)
  return path
end

function M:close()
  self.x = 1
end

local function helper() end

M.find = function(name)
  return name
end

local quick = function() end

return M
""",
)
_add(
    "elixir",
    "A.Store | A.Store.open | A.Store.close | A.Store.trace | A.Store.Row | A.Store.Row.key | Row | Row.+",
    """
defmodule A.Store do
  @moduledoc "Keeps rows."
  use Base

  defstruct [:path]

  @doc "Opens it."
  @spec open(String.t()) :: :ok
  def open(path) when is_binary(path) do
    path
  end

  def open(_), do: :error

  defp close(store), do: store

  defmacro trace(x) do
    x
  end

  defmodule Row do
    def key(row), do: row
  end
end

defimpl Row, for: Integer do
  def a + b, do: a
end
""",
)
_add(
    "haskell",
    "Store | Id | Named | Named Store | open | (+++) | limit",
    """
module A.Store (open) where

import Data.List

-- | Keeps rows.
data Store = Store { rows :: [Int] }
  deriving Show

newtype Id = Id Int

class Named a where
  name :: a -> String

instance Named Store where
  name _ = "store"

-- | Opens it.
open :: Int -> Store
open 0 = Store []
open n = Store [n]
  where m = n

(+++) :: Int -> Int -> Int
a +++ b = a + b

limit = 3
""",
)
_add(
    "zig",
    'Store | Store.open | Store.Kind | Fault | top | test "opens"',
    """
const std = @import("std");

/// Keeps rows.
pub const Store = struct {
    rows: u8,

    pub fn open(self: *Store) void {
        _ = self;
    }

    const Kind = enum { a, b };
};

const Fault = error{Lost};

pub fn top(a: u8) !void {
    _ = a;
}

test "opens" {
    try top(1);
}
""",
)
