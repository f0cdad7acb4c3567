import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { afterAll } from '@jest/globals'
import {
  isCallExpression,
  isExportDeclaration,
  isImportDeclaration,
  isStringLiteral,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast'
import { API, type Project } from 'typescript/unstable/sync'

export const root = join(import.meta.dirname, '../../..')

export interface Import {
  /** A path from the root for our own file, else the package's name. */
  readonly of: string
  readonly typeOnly: boolean
  readonly line: number
}

export interface Source {
  /** From the root: `src/control/agents/api.ts`. */
  readonly path: string
  readonly text: string
  readonly lines: number
  readonly node: SourceFile
  readonly imports: readonly Import[]
}

export interface Sources {
  readonly files: readonly Source[]
  readonly project: Project
}

let cachedSources: Sources | undefined

/** Every file that tsc compiles, parsed once for all parts of a test file. */
export function readSources(): Sources {
  cachedSources ??= parsed()
  return cachedSources
}

function parsed(): Sources {
  const config = join(root, 'tsconfig.json')
  const api = new API({ cwd: root })
  afterAll(() => api.close())
  const project = api.updateSnapshot({ openProjects: [config] }).getProject(config)
  if (!project) throw new Error(`${config} is no project`)
  return { files: project.rootFiles.map(path => sourceOf(path, project)), project }
}

function sourceOf(absolute: string, project: Project): Source {
  const path = absolute.slice(root.length + 1)
  const node = project.program.getSourceFile(absolute)
  if (!node) throw new Error(`${path} cannot be read`)
  const text = readFileSync(absolute, 'utf8')
  return { path, text, lines: text.split('\n').length - 1, node, imports: importsOf(path, node) }
}

function importsOf(path: string, node: SourceFile): Import[] {
  return allNodes(node).flatMap(part => {
    const { of, typeOnly } = importIn(part) ?? {}
    if (of === undefined) return []
    const resolved = of.startsWith('.') ? posix.join(posix.dirname(path), of) : of
    return [{ of: resolved, typeOnly: typeOnly === true, line: lineOf(node, part) }]
  })
}

function importIn(part: Node): { of: string; typeOnly: boolean } | undefined {
  if (isImportDeclaration(part) && isStringLiteral(part.moduleSpecifier))
    return {
      of: part.moduleSpecifier.text,
      typeOnly: part.importClause?.phaseModifier === SyntaxKind.TypeKeyword,
    }
  if (isExportDeclaration(part) && part.moduleSpecifier && isStringLiteral(part.moduleSpecifier))
    return { of: part.moduleSpecifier.text, typeOnly: part.isTypeOnly }
  const [argument] = isCallExpression(part) ? part.arguments : []
  if (isCallExpression(part) && part.expression.kind === SyntaxKind.ImportKeyword && argument)
    return { of: isStringLiteral(argument) ? argument.text : '(computed)', typeOnly: false }
  return undefined
}

export function allNodes(node: Node): Node[] {
  const nodes: Node[] = []
  const visit = (part: Node): void => {
    nodes.push(part)
    part.forEachChild(visit)
  }
  visit(node)
  return nodes
}

export const lineOf = (file: SourceFile, node: Node): number =>
  file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1

export const linesOf = (file: SourceFile, node: Node): number =>
  file.getLineAndCharacterOfPosition(node.end).line + 2 - lineOf(file, node)
