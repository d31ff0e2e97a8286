"""Kernels that only other kernels call are compiled for their callers, not for the processor.

Numba makes machine code of every function that a kernel calls, with a wrapper for calls from Python, and then
once more inside each caller up to the top: of a step with a call depth of eight most of the work was thrown
away. Here a kernel has two faces:

* *inner*, for kernels: types are inferred and the intermediate code is written, nothing more. No machine
  code, no wrapper; on disk the code of the kernel, and the names of those that it calls;
* *outer*, for Python: the inner code of everything that it calls is linked once, optimised once and compiled
  once.

Which one is needed shows when it is called, so nothing is compiled, or looked up on disk, before.

Departures: of Numba's two rounds of module optimisation only the full one is run; the other is for reference
counts, which kernels do not have.

This file and its neighbours ``jit*.py`` are the only ones that import Numba; it leans on parts of Numba that
may change: `taction._core.jit` refuses versions that were not tried. Numba's own compilation, without the two
faces, is no way around: a first step did not come in five minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import llvmlite.binding as llvm
from numba.core import cgutils, types
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.lowering import Lower
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering, NopythonTypeInference
from numba.extending import typeof_impl

from taction._core.jit_disk import KernelCache
from taction._core.jit_typing import KernelTypeInference, remembered


class InnerLibrary(JITCodeLibrary):
    """Intermediate code of one kernel; what it calls stays in the libraries it knows.

    Attributes:
        origin: whose code it is: module and name of the kernel, types of its arguments.
    """

    origin: tuple[str, str, tuple[Any, ...]] | None = None

    def finalize(self) -> None:
        """Make the code fit for linking into several callers."""
        self._raise_if_finalized()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"
        self._shared_module = self._final_module
        self._finalized = True

    def _optimize_functions(self, ll_module: Any) -> None:
        """Simplify what is defined here; with what is only declared nothing is to be done."""
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                manager, builder = self._codegen._function_pass_manager(opt=1)
                manager.run(function, builder)

    def serialize_using_object_code(self) -> Any:
        """The code as bitcode, with what it calls of Numba's own, and which kernels it calls."""
        self._ensure_finalized()
        kernels = [x.origin for x in self._linking_libraries if isinstance(x, InnerLibrary)]
        others = [x for x in self._linking_libraries if not isinstance(x, InnerLibrary)]
        if not others:
            return self.name, kernels, self._final_module.as_bitcode()
        whole = self._final_module.clone()
        link(whole, others)
        return self.name, kernels, whole.as_bitcode()


class OuterLibrary(JITCodeLibrary):
    """Machine code of a kernel that Python calls, with everything that it calls."""

    def finalize(self) -> None:
        """Link, optimise and compile."""
        self._codegen._check_llvm_bugs()
        self._raise_if_finalized()
        link(self._final_module, self._linking_libraries)
        manager, builder = self._codegen._module_pass_manager()
        manager.run(self._final_module, builder)
        self._final_module.verify()
        self._finalize_final_module()


def link(module: Any, libraries: list[Any]) -> None:
    """Link the code of libraries, and of all that they call, into a module."""
    for library in with_callees(libraries):
        module.link_in(library._get_module_for_linking(), preserve=True)


def with_callees(libraries: list[Any]) -> list[Any]:
    """The libraries and, of inner ones, those they know, each once, callers before callees.

    The order matters: the linker leaves out what nothing refers to yet.
    """
    seen: set[int] = set()
    order: list[Any] = []

    def visit(library: Any) -> None:
        if id(library) not in seen:
            seen.add(id(library))
            for callee in library._linking_libraries if isinstance(library, InnerLibrary) else ():
                visit(callee)
            order.append(library)

    for library in libraries:
        visit(library)
    return order[::-1]


class KernelLower(Lower):
    """Numba's lowering without notes for debuggers, which ask LLVM for the size of every variable."""

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """See `Lower`."""
        return cgutils.alloca_once(self.builder, lltype, name=name, zfill=False)


class KernelLowering(NativeLowering):
    """Numba's lowering of kernels."""

    @property
    def lowering_class(self) -> type[Lower]:
        """See `NativeLowering`."""
        return KernelLower


@register_pass(mutates_CFG=True, analysis_only=False)
class InnerLowering(KernelLowering):
    """Lower to intermediate code, and stop."""

    _name = "taction_inner_lowering"

    def run_pass(self, state: Any) -> bool:
        """See `NativeLowering.run_pass`."""
        context = state.targetctx
        state.library = InnerLibrary(context.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        state.func_id.unique_id = 0  # its name is that of module, kernel and types in every process
        with remembered():
            super().run_pass(state)
        entry = object()  # stands for the function where Numba looks up what a call means
        context.insert_user_function(entry, state["cr"].fndesc, [state.library])
        state["cr"] = state["cr"]._replace(cfunc=entry)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class OuterLowering(KernelLowering):
    """Lower, then link and compile."""

    _name = "taction_outer_lowering"

    def run_pass(self, state: Any) -> bool:
        """See `NativeLowering.run_pass`."""
        state.library = OuterLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        with remembered():
            return super().run_pass(state)


# Passes for what kernels never hold: closures, literals that unroll, array expressions, parallel loops; and
# for listings of inferred types
NEEDLESS = {
    "with_lifting",
    "inline_closure_likes",
    "make_function_op_code_to_jit_function",
    "inline_inlinables",
    "inline_overloads",
    "annotate_types",
    "literal_unroll",
    "nopython_rewrites",
    "ir_legalization",
    "dump_parfor_diagnostics",
}


def pipelines(compiler: CompilerBase, lowering: type[NativeLowering]) -> list[PassManager]:
    """Numba's passes that kernels need, with another last one."""
    standard = DefaultPassBuilder.define_nopython_pipeline(compiler.state)
    manager = PassManager(lowering._name)
    for numbas, text in standard.passes:
        if numbas is NativeLowering:
            manager.add_pass(lowering, text)
        elif numbas is NopythonTypeInference:
            manager.add_pass(KernelTypeInference, text)
        elif getattr(numbas, "_name", "") not in NEEDLESS:
            manager.add_pass(numbas, text)
    manager.finalize()
    return [manager]


class InnerCompiler(CompilerBase):
    """Compiler of the inner face."""

    def define_pipelines(self) -> list[PassManager]:
        """See `CompilerBase`."""
        return pipelines(self, InnerLowering)


class OuterCompiler(CompilerBase):
    """Compiler of the outer face."""

    def define_pipelines(self) -> list[PassManager]:
        """See `CompilerBase`."""
        return pipelines(self, OuterLowering)


class InnerCacheImpl(CompileResultCacheImpl):
    """Inner code on disk, in files of their own name."""

    def rebuild(self, target_context: Any, payload: Any) -> CompileResult:
        """A compile result whose library is inner code."""
        (name, kernels, bitcode), fndesc, env, signature, _, _, annotation, reload_init, envs = payload
        for function in reload_init:
            function()
        library = InnerLibrary(target_context.codegen(), name)
        library._final_module = llvm.parse_bitcode(bitcode)
        for module, kernel, args in kernels:
            library.add_linking_library(getattr(import_module(module), kernel).inner.library(args))
        library.finalize()
        return CompileResult(
            typing_context=target_context.typing_context,
            target_context=target_context,
            entry_point=object(),
            typing_error=None,
            type_annotation=annotation,
            signature=signature,
            objectmode=False,
            lifted=(),
            fndesc=fndesc,
            library=library,
            call_helper=None,
            environment=env,
            metadata=None,
            reload_init=reload_init,
            referenced_envs=envs,
        )

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        """See `CompileResultCacheImpl`."""
        return "inner-" + super().get_filename_base(fullname, abiflags)


class InnerCache(KernelCache):
    """Disk cache of the inner face."""

    _impl_class = InnerCacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """See `FunctionCache`; contexts know all that kernels use once one of them was asked for."""
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


class InnerDispatcher(CPUDispatcher):
    """The inner face: known to other kernels, not callable from Python.

    A literal argument is its type: by itself Numba would compile a kernel anew for every constant.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """See `CPUDispatcher`."""
        return super().get_call_template(tuple(types.unliteral(a) for a in args), kws)

    def add_overload(self, cres: CompileResult) -> None:
        """Keep a specialisation for callers."""
        args = tuple(cres.signature.args)
        cres.library.origin = self.py_func.__module__, self.py_func.__name__, args
        self.overloads[args] = cres

    def library(self, args: tuple[Any, ...]) -> InnerLibrary:
        """The code for arguments of these types."""
        self.compile(args)
        return self.overloads[args].library  # type: ignore[no-any-return]

    def enable_caching(self) -> None:
        """Use the disk."""
        self._cache = InnerCache(self.py_func)


class OuterDispatcher(CPUDispatcher):
    """The outer face."""

    def enable_caching(self) -> None:
        """Use the disk."""
        self._cache = KernelCache(self.py_func)


class Kernel:
    """A compiled function with its two faces, each made when it is first asked for.

    Args:
        function: what to compile.
        options: of Numba's ``njit``, ``cache`` left out.
        cached: makes the disk cache of a face, in the project's own folder.
    """

    trace: Callable[[Kernel, tuple[Any, ...], bool], Any] | None = None  # calls from Python go here instead
    tracer: int | None = None  # the thread whose calls do

    def __init__(
        self, function: Callable[..., Any], options: dict[str, Any], cached: Callable[[Any], None]
    ) -> None:
        self.py_func, self._options, self._cached = function, options, cached
        self._inner: InnerDispatcher | None = None
        self._outer: CPUDispatcher | None = None
        self.__name__, self.__doc__, self.__module__ = (
            function.__name__,
            function.__doc__,
            function.__module__,
        )
        self.__qualname__, self.__wrapped__ = function.__qualname__, function

    def __call__(self, *args: Any) -> Any:
        if Kernel.trace is not None:
            return Kernel.trace(self, args, False)
        return self.outer(*args)

    def entry(self) -> Callable[..., Any]:
        """The machine code itself where there is but one: no look at the types of arguments.

        For callers that always give arguments of the same types, and have called the kernel before.
        """
        compiled = list(self.outer.overloads.values())
        return compiled[0].entry_point if len(compiled) == 1 and Kernel.trace is None else self

    @property
    def outer(self) -> CPUDispatcher:
        """The face for Python."""
        if self._outer is None:
            self._outer = OuterDispatcher(
                self.py_func, targetoptions=self._options, pipeline_class=OuterCompiler
            )
            self._outer.kernel = self
            self._cached(self._outer)
        return self._outer

    @property
    def inner(self) -> InnerDispatcher:
        """The face for other kernels."""
        if self._inner is None:
            options = {**self._options, "no_cpython_wrapper": True}
            self._inner = InnerDispatcher(self.py_func, targetoptions=options, pipeline_class=InnerCompiler)
            self._inner.kernel = self
            self._cached(self._inner)
        return self._inner

    @property
    def is_kept(self) -> bool:
        """Whether inner code is on disk, for whatever types."""
        cache = self.inner._cache
        return isinstance(cache, KernelCache) and cache.is_there()

    @property
    def signatures(self) -> list[Any]:
        """Types of arguments that either face was compiled for in this process."""
        faces = [face for face in (self._inner, self._outer) if face is not None]
        return [signature for face in faces for signature in face.signatures]


@typeof_impl.register(Kernel)
def _typeof(value: Kernel, _context: Any) -> types.Dispatcher:
    return types.Dispatcher(value.inner)
