import ts from 'typescript'
import { listSites, type Site } from './sites.ts'
import { sqlSites } from './sql-sites.ts'

const JOINING = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
  ts.SyntaxKind.PlusToken,
  ts.SyntaxKind.MinusToken,
  ts.SyntaxKind.AsteriskToken,
  ts.SyntaxKind.SlashToken,
  ts.SyntaxKind.PercentToken,
  ts.SyntaxKind.AmpersandToken,
  ts.SyntaxKind.BarToken,
])

/** All that the operators can change in a declaration; what stands in its strings is read as SQL. */
export function typescriptSites(file: ts.SourceFile, scope: ts.Node): Site[] {
  const { text } = file
  const sites: Site[] = []
  const range = (node: ts.Node) => ({ from: node.getStart(file), to: node.end })
  const source = (node: ts.Node) => text.slice(node.getStart(file), node.end)
  const replace = (operator: Site['operator'], named: ts.Node, node: ts.Node, by: string) =>
    sites.push({ operator, ...range(named), edit: { ...range(node), text: by } })
  const list = (nodes: readonly ts.Node[]) => sites.push(...listSites(text, nodes.map(range)))

  function visit(node: ts.Node): void {
    if (ts.isTypeNode(node)) return
    if (ts.isStatement(node) && !ts.isBlock(node)) replace('drop', node, node, ';')
    if (isValue(node)) replace('make', node, node, '')
    if (ts.isBlock(node) || ts.isSourceFile(node)) {
      sites.push(
        ...listSites(text, node.statements.map(range)).filter(({ operator }) => operator === 'later'),
      )
    } else if (ts.isCallExpression(node) || ts.isNewExpression(node)) visitCall(node)
    else if (ts.isArrayLiteralExpression(node)) list(node.elements)
    else if (ts.isObjectLiteralExpression(node)) list(node.properties)
    else if (ts.isCaseBlock(node)) list(node.clauses)
    else if (ts.isShorthandPropertyAssignment(node)) {
      sites.push({ operator: 'make', ...range(node), edit: { from: node.end, to: node.end, text: ': ' } })
    } else if (ts.isBinaryExpression(node)) visitBinary(node)
    else if (ts.isPropertyAccessExpression(node)) {
      if (!isCallee(node)) replace('unwrap', node.name, node, source(node.expression))
    } else if (ts.isPrefixUnaryExpression(node)) replace('unwrap', node, node, source(node.operand))
    else if (ts.isAwaitExpression(node) || ts.isVoidExpression(node)) {
      replace('unwrap', node, node, source(node.expression))
    } else if (ts.isConditionalExpression(node)) {
      replace('without', node.whenTrue, node, source(node.whenFalse))
      replace('without', node.whenFalse, node, source(node.whenTrue))
    } else if (ts.isIfStatement(node) && node.elseStatement) {
      const edit = { from: node.thenStatement.end, to: node.end, text: '' }
      sites.push({ operator: 'without', ...range(node.elseStatement), edit })
    } else if (ts.isTemplateSpan(node)) {
      const edit = { from: node.expression.pos - 2, to: node.literal.getStart(file) + 1, text: '' }
      sites.push({ operator: 'without', ...range(node.expression), edit })
    }
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
      sites.push(...sqlSites(text, node.getStart(file) + 1, node.end - 1))
    }
    ts.forEachChild(node, visit)
  }

  /** `f(a)` becomes `a`; `a.f(b)` becomes `a`, but `Math.f(b)` becomes `b`. */
  function visitCall(node: ts.CallExpression | ts.NewExpression): void {
    const { expression: callee, arguments: given = [] } = node
    list(given)
    const isMethod = ts.isPropertyAccessExpression(callee)
    const kept = isMethod && !/^[A-Z]/.test(source(callee)) ? callee.expression : given[0]
    if (kept) replace('unwrap', isMethod ? callee.name : callee, node, source(kept))
  }

  function visitBinary(node: ts.BinaryExpression): void {
    const { left, right, operatorToken } = node
    if (JOINING.has(operatorToken.kind)) {
      replace('without', left, node, source(right))
      replace('without', right, node, source(left))
    }
    if (operatorToken.kind === ts.SyntaxKind.EqualsToken) return
    replace('later', left, node, `${source(right)} ${source(operatorToken)} ${source(left)}`)
  }

  ts.forEachChild(scope, visit)
  return sites
}

function isCallee(node: ts.Node): boolean {
  return (
    (ts.isCallExpression(node.parent) || ts.isNewExpression(node.parent)) && node.parent.expression === node
  )
}

/** Whether another expression could stand in its place: it is no name, no target, nothing that is called or looked into. */
function isValue(node: ts.Node): boolean {
  const { parent } = node
  if (!ts.isExpression(node) || ts.isParenthesizedExpression(node) || ts.isOmittedExpression(node))
    return false
  if (isCallee(node) || ts.isSpreadElement(node)) return false
  if (ts.isPropertyAccessExpression(parent)) return false
  if (ts.isBinaryExpression(parent)) {
    return parent.left !== node || parent.operatorToken.kind !== ts.SyntaxKind.EqualsToken
  }
  if (!ts.isIdentifier(node) && !ts.isLiteralExpression(node)) return true
  if (ts.isShorthandPropertyAssignment(parent) || ts.isBindingElement(parent))
    return 'initializer' in parent && parent.initializer === node
  return !('name' in parent && parent.name === node) && !ts.isImportDeclaration(parent)
}
