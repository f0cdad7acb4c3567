import { isIfStatement, type Node, SyntaxKind } from 'typescript/unstable/ast'

const FUNCTIONS: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.ArrowFunction,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.Constructor,
  SyntaxKind.GetAccessor,
  SyntaxKind.SetAccessor,
])

const BRANCHES: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.IfStatement,
  SyntaxKind.ForStatement,
  SyntaxKind.ForOfStatement,
  SyntaxKind.ForInStatement,
  SyntaxKind.WhileStatement,
  SyntaxKind.DoStatement,
  SyntaxKind.SwitchStatement,
  SyntaxKind.TryStatement,
])

export const isFunction = (part: Node): boolean =>
  FUNCTIONS.has(part.kind) && 'body' in part && Boolean(part.body)

/** The nesting depth of statements. An `else if` is on the level of its `if`, and an inner function starts at zero. */
export function nestingOf(part: Node): number {
  let deepest = 0
  part.forEachChild(child => {
    if (isFunction(child)) return
    const isElseIf = isIfStatement(part) && isIfStatement(child)
    const step = BRANCHES.has(child.kind) && !isElseIf ? 1 : 0
    deepest = Math.max(deepest, step + nestingOf(child))
  })
  return deepest
}
