"""The passes of torch.compile's back end: patterns by their module, graph passes, and switches.

Patterns are applied by entries of one kind each, and graph passes by an observer; both are watched
here, so that it is known which changed a model, and any can be kept from doing so. Other passes
have a switch in the compiler's configuration.
"""

import re

# Switches of tests, logs, caches and processes change no result.
_IDLE = re.compile(
    r"(^|[._])(cache|caching|debug|trace|log|verbose|checks?|asserts?|tests?|profile|workers?|"
    r"benchmark|autotune|cuda|cutlass|rocm|halide|xpu|triton|distributed|dump|report|names?)"
)
_ENTRIES = ("LoweringPatternEntry", "GraphPatternEntry", "ReplacementPatternEntry")


class Passes(object):
    """Watches and stops what the compiler does to a graph."""

    def __init__(self):
        """Put a guard before every pass."""
        from torch._inductor import config
        from torch._inductor import pattern_matcher as matcher

        self.config, self.off, self.applied, self.patches = config, set(), [], []
        for name in _ENTRIES:
            self._guard_entry(getattr(matcher, name))
        try:
            from torch._inductor.fx_utils import GraphTransformObserver as Observer
        except ImportError:
            from torch.fx.passes.graph_transform_observer import GraphTransformObserver as Observer
        for name in ("apply_gm_pass", "apply_graph_pass"):
            if hasattr(Observer, name):
                self._guard_pass(Observer, name)

    def switch_off(self, passes):
        """Keep these away, and no others; what was compiled before is not asked for."""
        while self.patches:
            self.patches.pop().__exit__(None, None, None)
        known = self._switches()
        changes = {name: False for name in passes if name in known}
        self.off = set(passes) - set(changes)
        self.applied = []
        if passes:
            self.forget()
            self._patch(self.config, changes)

    def forget(self):
        """Use no cache: its keys know nothing of the guards."""
        from torch._functorch import config as functorch

        for module, name, value in (
            (self.config, "fx_graph_cache", False),
            (self.config, "force_disable_caches", True),
            (functorch, "enable_autograd_cache", False),
        ):
            if hasattr(module, name):
                self._patch(module, {name: value})

    def _patch(self, module, changes):
        if changes:
            self.patches.append(module.patch(changes))
            self.patches[-1].__enter__()

    def others(self):
        """Return the switches that are on."""
        return sorted(self._switches())

    def _switches(self):
        config = self.config
        known = config.get_config_copy() if hasattr(config, "get_config_copy") else config.to_dict()
        return [n for n, value in known.items() if value is True and not _IDLE.search(n)]

    def _allows(self, name, changed=True):
        if name in self.off:
            return False
        if changed and name not in self.applied:
            self.applied.append(name)
        return True

    def _guard_entry(self, kind):
        apply = kind.apply

        def guarded(entry, match, graph, node):
            if self._allows("pattern_matcher (%s)" % _origin(entry)):
                apply(entry, match, graph, node)

        kind.apply = guarded

    def _guard_pass(self, observer, method):
        apply = getattr(observer, method)

        def guarded(one, function):
            if not self._allows(one.passname, False):
                return None
            before = _text(one.gm)
            result = apply(one, function)
            if _text(one.gm) != before:
                self._allows(one.passname)
            return result

        setattr(observer, method, guarded)


def _text(module):
    return "\n".join(node.format_node() or "" for node in module.graph.nodes)


def _origin(entry):
    """Return the module in which a pattern was written down."""
    functions = [getattr(entry, "handler", None), entry.extra_check]
    for function in list(functions):
        for cell in getattr(function, "__closure__", None) or ():
            functions.append(cell.cell_contents)
    for function in functions:
        plain = getattr(function, "func", function)
        place = getattr(plain, "__module__", None) or ""
        if callable(plain) and ".fx_passes." in place:
            return place.rpartition(".")[2]
    return "other"
