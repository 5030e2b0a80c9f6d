"""Einsum in transpositions, sums and batched matrix products."""

from math import prod

from xdsl_tpu.frontend.onnx.compose.body import Body, Composition
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode

Term = tuple[str, str]
"""A value and one letter for each of its dimensions."""


def einsum(body: Body) -> None:
    """Einsum(equation; x, y, ..) -> pairs become batched products, the first two first.

    A letter repeated within a term stands for its diagonal; letters of one term alone are summed
    before the product.
    """
    terms, result, sizes = _parsed(body)
    pending = [_diagonal(body, term, sizes) for term in zip(body.node.inputs, terms, strict=True)]
    while len(pending) > 1:
        left, right, *rest = pending
        needed = set(result).union(*(letters for _, letters in rest))
        pending = [_product(body, left, right, needed, sizes), *rest]
    value, letters = _summed(body, pending[0], set(result))
    order = [letters.index(letter) for letter in result]
    if order == [*range(len(order))]:
        body.reshape(value, [sizes[letter] for letter in result], body.node.output)
    else:
        body.transpose(value, order, body.node.output)


def _parsed(body: Body) -> tuple[list[str], str, dict[str, int]]:
    """The letters of every term and of the result, and the size of each letter.

    Dimensions behind `...` get letters of their own, counted from the last one.
    """
    equation: str = body.node.attribute("equation", "").replace(" ", "")
    left, arrow, result = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(body.node.inputs):
        raise UnsupportedNode(f"equation '{equation}' is not for {len(body.node.inputs)} operands")
    hidden, sizes = "", dict[str, int]()
    for index, term in enumerate(terms):
        shape = body.shape(index)
        extra = len(shape) - len(term.replace("...", ""))
        dots = "".join(chr(0x1000 + place) for place in reversed(range(extra)))
        hidden = max(hidden, dots, key=len)
        terms[index] = term.replace("...", dots)
        if len(terms[index]) != len(shape):
            raise UnsupportedNode(f"equation '{equation}' does not fit the shapes")
        for letter, size in zip(terms[index], shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                raise UnsupportedNode(f"equation '{equation}' repeats elements of an operand")
    if not arrow:
        letters = "".join(terms)
        once = sorted(x for x in set(letters) - set(hidden) if letters.count(x) == 1)
        return terms, hidden + "".join(once), sizes
    return terms, result.replace("...", hidden), sizes


def _diagonal(body: Body, term: Term, sizes: dict[str, int]) -> Term:
    """The term with each letter once: the n x n elements of two equal letters lie n + 1 apart."""
    value, letters = term
    while len(set(letters)) < len(letters):
        letter = next(x for x in letters if letters.count(x) > 1)
        first = letters.index(letter)
        second = letters.index(letter, first + 1)
        others = [place for place in range(len(letters)) if place not in (first, second)]
        value = body.transpose(value, [*others, first, second])
        letters, size = "".join(letters[place] for place in others), sizes[letter]
        outer = [sizes[x] for x in letters]
        value = body.reshape(value, [*outer, size * size])
        value = body.slice(value, len(outer), 0, size * size, size + 1)
        letters += letter
    return value, letters


def _summed(body: Body, term: Term, needed: set[str]) -> Term:
    """The term without the letters nobody needs."""
    value, letters = term
    axes = [place for place, letter in enumerate(letters) if letter not in needed]
    if not axes:
        return term
    return (
        body.reduce("ReduceSum", value, axes, keepdims=False),
        "".join(letter for letter in letters if letter in needed),
    )


def _product(body: Body, left: Term, right: Term, needed: set[str], sizes: dict[str, int]) -> Term:
    """One batched product: letters of both that stay are the batch, the other common ones K.

    Without any of these it is one of elements: matrices of one column and one row would have few
    elements each.
    """
    (x, a) = _summed(body, left, needed | set(right[1]))
    (y, b) = _summed(body, right, needed | set(left[1]))
    batch = [letter for letter in a if letter in b and letter in needed]
    inner = [letter for letter in a if letter in b and letter not in needed]
    rows = [letter for letter in a if letter not in b]
    columns = [letter for letter in b if letter not in a]
    if batch and not inner:
        return _element_wise(body, (x, a), (y, b), sizes)

    def matrix(value: str, letters: str, *groups: list[str]) -> str:
        order = [letters.index(letter) for group in groups for letter in group]
        if order != [*range(len(order))]:
            value = body.transpose(value, order)
        flat = [prod(sizes[letter] for letter in group) for group in groups]
        return body.reshape(value, flat)

    product = body.add(
        "MatMul", matrix(x, a, batch, rows, inner), matrix(y, b, batch, inner, columns)
    )
    letters = "".join((*batch, *rows, *columns))
    return body.reshape(product, [sizes[letter] for letter in letters]), letters


def _element_wise(body: Body, left: Term, right: Term, sizes: dict[str, int]) -> Term:
    """A product with numpy's broadcasting, in the order of the larger term. What only the other one
    has goes before the last that the larger one alone has, so that rows stay long."""
    large, small = sorted((left, right), key=lambda term: -prod(sizes[x] for x in term[1]))
    own = "".join(x for x in small[1] if x not in large[1])
    place = 1 + max((at for at, x in enumerate(large[1]) if x not in small[1]), default=-1)
    while place and large[1][place - 1] not in small[1]:
        place -= 1
    letters = large[1][:place] + own + large[1][place:]

    def spread(term: Term) -> str:
        value, has = term
        order = [has.index(letter) for letter in letters if letter in has]
        if order != [*range(len(order))]:
            value = body.transpose(value, order)
        return body.reshape(value, [sizes[x] if x in has else 1 for x in letters])

    return body.add("Mul", spread(large), spread(small)), letters


COMPOSED: dict[str, Composition] = {"Einsum": einsum}
