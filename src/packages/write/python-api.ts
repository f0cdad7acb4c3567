import { problems } from '../../kernel/contract/problem.ts'
import type { ClientContract, ClientOperation } from './contract.ts'
import { pascal, recordIn, snake } from './names.ts'
import { ownVerbs } from './own-verbs.ts'
import { docstring, PythonTypes } from './python-types.ts'

const WRITTEN = 'Written from the contracts of the service by `npm run packages`.'

const inputName = ({ key }: ClientOperation): string => `${pascal(key)}Input`
const resultName = ({ key, result }: ClientOperation): string =>
  result?.$ref ? recordIn(result.$ref) : `${pascal(key)}Result`

/** `agentpay/types.py`: records, inputs, answers, and for each operation the closed list of its refusals. */
export function pythonTypes({ schemas, operations }: ClientContract): string {
  const types = new PythonTypes()
  for (const [name, schema] of Object.entries(schemas)) types.declare(name, schema)
  for (const operation of operations) {
    const { input, result, key, codes } = operation
    if (input) types.declare(inputName(operation), input.schema)
    if (result && !result.$ref) types.declare(resultName(operation), result)
    types.alias(`${pascal(key)}Code`, [literal(codes), 'ProblemCode'].filter(Boolean).join(' | '))
  }
  return [
    `"""The records of the service. ${WRITTEN}"""\n`,
    'from __future__ import annotations\n',
    'from typing import TYPE_CHECKING, Any, Literal, TypedDict\n',
    'if TYPE_CHECKING:\n    from typing_extensions import NotRequired, TypeAlias\nelse:\n    TypeAlias = Any\n',
    `#: What every operation can be refused with.\nProblemCode: TypeAlias = ${JSON.stringify(literal(Object.keys(problems)))}\n\n`,
    `${types.text}\n`,
  ].join('\n')
}

const literal = (codes: readonly string[]): string =>
  codes.length === 0 ? '' : `Literal[${codes.map(code => `'${code}'`).join(', ')}]`

interface Kind {
  readonly module: string
  readonly client: string
  readonly connection: string
  readonly pages: string
  readonly iterator: string
  readonly isAsync: boolean
}

export const kinds: readonly Kind[] = [
  {
    module: '_sync',
    client: 'AgentPay',
    connection: 'Connection',
    pages: 'Pages',
    iterator: 'Iterator',
    isAsync: false,
  },
  {
    module: '_async',
    client: 'AsyncAgentPay',
    connection: 'AsyncConnection',
    pages: 'AsyncPages',
    iterator: 'AsyncIterator',
    isAsync: true,
  },
]

/** `agentpay/_sync_api.py` and `agentpay/_async_api.py`: a class for each noun, a method for each operation. */
export function pythonApi(contract: ClientContract, kind: Kind): string {
  const nouns = [...Map.groupBy(contract.operations, ({ noun }) => noun)]
  return [
    `"""The operations of the service. ${WRITTEN}"""\n`,
    'from __future__ import annotations\n',
    `from collections.abc import ${kind.iterator}`,
    'from typing import TYPE_CHECKING, cast\n',
    `from .${kind.module} import ${kind.connection}, ${kind.pages}`,
    `from ._wait import WITHIN, ${kind.isAsync ? 'async_until_decided' : 'until_decided'}\n`,
    'if TYPE_CHECKING:\n    from typing_extensions import Unpack\n\n    from . import types as records\n    from ._calls import CallOptions\n\n',
    ...nouns.map(([noun, own]) => nounClass(noun, own, contract, kind)),
    `class Api:\n    """Every noun of the service."""\n`,
    `    def __init__(self, connection: ${kind.connection}) -> None:`,
    ...nouns.map(([noun]) => `        self.${snake(noun)} = ${pascal(noun)}(connection)`),
    '',
  ].join('\n')
}

function nounClass(
  noun: string,
  operations: readonly ClientOperation[],
  { nouns }: ClientContract,
  kind: Kind,
): string {
  const list = operations.find(({ verb }) => verb === 'list')
  return [
    `class ${pascal(noun)}:`,
    ...docstring(nouns[noun]),
    '',
    `    def __init__(self, connection: ${kind.connection}) -> None:`,
    '        self._connection = connection',
    '',
    ...operations.map(operation => method(operation, list, kind)),
    ...(ownVerbs[noun] ?? []).flatMap(({ python }) => (kind.isAsync ? python.async : python.sync)),
    '',
  ].join('\n')
}

/** Names that a method of Python may not have. */
const verbOf = (verb: string): string => {
  const name = snake(verb)
  return ['import', 'from', 'pass', 'return', 'del', 'global', 'lambda'].includes(name) ? `${name}_` : name
}

function method(operation: ClientOperation, list: ClientOperation | undefined, kind: Kind): string {
  const { params, input, answers, verb, summary } = operation
  const isAwaited = kind.isAsync && (answers === 'json' || answers === 'file')
  const optional = input?.isRequired ? '' : ' | None = None'
  const parameters = [
    'self',
    ...params.map(name => `${snake(name)}: str`),
    ...(input ? [`input: records.${inputName(operation)}${optional}`] : []),
    '**options: Unpack[CallOptions]',
  ]
  const head = `    ${isAwaited ? 'async ' : ''}def ${verbOf(verb)}(${parameters.join(', ')}) -> ${returned(operation, kind)}:`
  return [head, ...docstring(summary, '        '), `        ${bodyOf(operation, list, kind)}`, ''].join('\n')
}

function returned(operation: ClientOperation, { pages, iterator }: Kind): string {
  const { answers, result } = operation
  if (answers === 'file') return 'bytes'
  if (!result) return 'None'
  const type = `records.${resultName(operation)}`
  if (answers === 'list') return `${pages}[${type}]`
  return answers === 'stream' ? `${iterator}[${type}]` : type
}

function bodyOf(operation: ClientOperation, list: ClientOperation | undefined, kind: Kind): string {
  const { params, input, answers, result } = operation
  const ids = params.length === 0 ? '()' : `(${params.map(snake).join(', ')},)`
  const given = `${JSON.stringify(lineOf(operation))}, ${ids}, ${input ? 'input' : 'None'}, options`
  const wait = kind.isAsync ? 'await ' : ''
  if (answers === 'list')
    return `return ${kind.pages}(self._connection, ${given.replace(', input,', ', input or {},').replace(', None,', ', {},')})`
  if (answers === 'stream')
    return `return self._connection.stream(${given}, ${JSON.stringify(list ? lineOf(list) : '')})`
  if (answers === 'file') return `return ${wait}self._connection.file(${given})`
  const call = `${wait}self._connection.json(${given})`
  return result ? `return cast("records.${resultName(operation)}", ${call})` : call
}

function lineOf({ key, method, path, input, takesKey, isRepeatable }: ClientOperation): string {
  const place = input?.place === 'body' ? 'b' : input ? 'q' : ''
  return `${key} ${method} ${path} ${place}${takesKey ? 'k' : ''}${isRepeatable ? 'r' : ''}`.trim()
}
