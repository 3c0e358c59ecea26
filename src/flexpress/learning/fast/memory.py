"""Plain memory for compiled code: pointers into arrays, without shapes, strides and checks.

A Numba array is seven words, and every index is checked for being negative. A function with a dozen
arrays as arguments copies a hundred words at each call, and takes long to compile. So the compiled
code works on pointers; Python makes sure, from the layout, that the arrays are large enough.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from flexpress.learning.fast.decorators import Generator, intrinsic


@intrinsic
def pointer(typing: Any, array: Any) -> tuple[Any, Generator]:
    """A pointer to the first element of an array, which must outlive it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(array)(context, builder, arguments[0]).data

    kind = types.CPointer(array.dtype)  # type: ignore[no-untyped-call]  # Numba's
    return kind(array), generate


@intrinsic
def float_pointer(typing: Any, array: Any) -> tuple[Any, Generator]:
    """A pointer to floats, in an array of bytes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(array)(context, builder, arguments[0]).data
        return builder.bitcast(data, ir.FloatType().as_pointer())

    kind = types.CPointer(types.float32)  # type: ignore[no-untyped-call]  # Numba's
    return kind(array), generate


@intrinsic
def at(typing: Any, memory: Any, index: Any) -> tuple[Any, Generator]:
    """memory[index]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.gep(arguments[0], [arguments[1]], inbounds=True))

    return memory.dtype(memory, types.intp), generate


@intrinsic
def put(typing: Any, memory: Any, index: Any, value: Any) -> tuple[Any, Generator]:
    """memory[index] = value."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], builder.gep(arguments[0], [arguments[1]], inbounds=True))
        return context.get_dummy_value()

    return types.none(memory, types.intp, memory.dtype), generate


@intrinsic
def fetch(typing: Any, memory: Any, index: Any) -> tuple[Any, Generator]:
    """Prefetch the cache line of memory[index]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.gep(arguments[0], [arguments[1]], inbounds=True)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
        builder.call(prefetch, [place, number(0), number(3), number(1)])  # to read; often; data
        return context.get_dummy_value()

    return types.none(memory, types.intp), generate
