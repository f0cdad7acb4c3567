import type { JsonSchema } from '../../derive/openapi/types.ts'
import { universalProblems } from '../../kernel/contract/problem.ts'
import type { ClientContract, ClientOperation } from './contract.ts'
import { referencedRecord, toPascalCase, toSnakeCase } from './names.ts'
import { clientOnlyVerbs } from './own-verbs.ts'

const WRITTEN = 'Written from the contracts of the service by `npm run packages`.'

const inputName = ({ key }: ClientOperation): string => `${toPascalCase(key)}Input`
const resultName = ({ key, result }: ClientOperation): string =>
  result?.$ref ? referencedRecord(result.$ref) : `${toPascalCase(key)}Result`

/** `agentpay/types.py`: records, inputs, answers, and the closed list of refusals of each operation. */
export function pythonTypes({ schemas, operations }: ClientContract): string {
  const types = new PythonTypes()
  for (const [name, schema] of Object.entries(schemas)) types.declare(name, schema)
  for (const operation of operations) {
    const { input, result, key, codes } = operation
    if (input) types.declare(inputName(operation), input.schema)
    if (result && !result.$ref) types.declare(resultName(operation), result)
    types.alias(`${toPascalCase(key)}Code`, [literal(codes), 'ProblemCode'].filter(Boolean).join(' | '))
  }
  return [
    `"""The records of the service. ${WRITTEN}"""\n`,
    'from __future__ import annotations\n',
    'from typing import TYPE_CHECKING, Any, Literal, TypedDict\n',
    'if TYPE_CHECKING:\n    from typing_extensions import NotRequired, TypeAlias\nelse:\n    TypeAlias = Any\n',
    `#: What every operation can be refused with.\nProblemCode: TypeAlias = ${JSON.stringify(literal(Object.keys(universalProblems)))}\n\n`,
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

export const pythonClientKinds: readonly Kind[] = [
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
    'from typing import TYPE_CHECKING, Literal, cast, overload\n',
    'from ._calls import wait_options, waiting',
    `from .${kind.module} import ${kind.connection}, ${kind.pages}`,
    `from ._wait import WITHIN, ${kind.isAsync ? 'async_while_in' : 'while_in'}\n`,
    'if TYPE_CHECKING:\n    from typing_extensions import Unpack\n\n    from . import types as records\n    from ._calls import CallOptions, WaitOptions\n\n',
    ...nouns.map(([noun, own]) => nounClass(noun, own, contract, kind)),
    `class Api:\n    """Every noun of the service."""\n`,
    `    def __init__(self, connection: ${kind.connection}) -> None:`,
    ...nouns.map(([noun]) => `        self.${toSnakeCase(noun)} = ${toPascalCase(noun)}(connection)`),
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
    `class ${toPascalCase(noun)}:`,
    ...docstring(nouns[noun]),
    '',
    `    def __init__(self, connection: ${kind.connection}) -> None:`,
    '        self._connection = connection',
    '',
    ...operations.map(operation => method(operation, list, kind)),
    ...(clientOnlyVerbs[noun] ?? []).flatMap(({ python }) => (kind.isAsync ? python.async : python.sync)),
    '',
  ].join('\n')
}

const verbOf = (verb: string): string => {
  const name = toSnakeCase(verb)
  return ['import', 'from', 'pass', 'return', 'del', 'global', 'lambda'].includes(name) ? `${name}_` : name
}

function method(operation: ClientOperation, list: ClientOperation | undefined, kind: Kind): string {
  const { params, input, answers, verb, summary, accepted } = operation
  const isAwaited = kind.isAsync && (answers === 'json' || answers === 'file')
  const optional = input?.isRequired ? '' : ' | None = None'
  const parameters = [
    'self',
    ...params.map(name => `${toSnakeCase(name)}: str`),
    ...(input ? [`input: records.${inputName(operation)}${optional}`] : []),
  ]
  const headOf = (wait: readonly string[], type: string) =>
    `    ${isAwaited ? 'async ' : ''}def ${verbOf(verb)}(${[...parameters, ...wait, '**options: Unpack[CallOptions]'].join(', ')}) -> ${type}:`
  const type = returned(operation, kind)
  const rest = [...docstring(summary, '        '), `        ${bodyOf(operation, list, kind)}`, '']
  if (!accepted?.$ref) return [headOf([], type), ...rest].join('\n')
  const later = `records.${referencedRecord(accepted.$ref)}`
  return [
    '    @overload',
    `${headOf(['*', 'wait: Literal[False]'], later)} ...`,
    '    @overload',
    `${headOf(['*', 'wait: Literal[True] = True'], type)} ...`,
    headOf(['*', 'wait: bool = True'], `${type} | ${later}`),
    ...rest,
  ].join('\n')
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
  const { params, input, answers, result, accepted } = operation
  const ids = params.length === 0 ? '()' : `(${params.map(toSnakeCase).join(', ')},)`
  const options = accepted ? 'waiting(wait, options)' : 'options'
  const given = `${JSON.stringify(lineOf(operation))}, ${ids}, ${input ? 'input' : 'None'}, ${options}`
  const wait = kind.isAsync ? 'await ' : ''
  if (answers === 'list')
    return `return ${kind.pages}(self._connection, ${given.replace(', input,', ', {} if input is None else input,').replace(', None,', ', {},')})`
  if (answers === 'stream')
    return `return self._connection.stream(${given}, ${JSON.stringify(list ? lineOf(list) : '')})`
  if (answers === 'file') return `return ${wait}self._connection.file(${given})`
  const call = `${wait}self._connection.json(${given})`
  return result ? `return cast("records.${resultName(operation)}", ${call})` : call
}

function lineOf(operation: ClientOperation): string {
  const { key, method, path, input, idMembers, takesKey, isRepeatable, isCsv } = operation
  const place = input?.place === 'body' ? 'b' : input ? 'q' : ''
  const letters = [place, takesKey && 'k', isRepeatable && 'r', isCsv && 'c'].filter(Boolean).join('')
  return `${key} ${method} ${path} ${letters} ${idMembers.join()}`.trim()
}

const simple: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
}

const KEYWORDS = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
)

const isName = (text: string): boolean => /^[A-Za-z_]\w*$/.test(text) && !KEYWORDS.has(text)
const quoted = (text: string): string => JSON.stringify(text)

class PythonTypes {
  readonly #written = new Map<string, string>()

  get text(): string {
    return [...this.#written.values()].join('\n\n')
  }

  declare(name: string, schema: JsonSchema): void {
    const isOneOf = schema.anyOf !== undefined || schema.oneOf !== undefined
    if (hasMembers(schema)) this.#object(name, schema)
    else this.alias(name, this.typeOf(schema, isOneOf ? `${name}Option` : name))
  }

  alias(name: string, type: string): void {
    this.#add(name, `${name}: TypeAlias = ${quoted(type)}`)
  }

  typeOf(schema: JsonSchema, name: string): string {
    if (schema.$ref) return referencedRecord(schema.$ref)
    const choices = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
    if (choices) return literalOf(choices)
    const options = schema.anyOf ?? schema.oneOf
    if (options)
      return union(options.map((option, n) => this.typeOf(option, n === 0 ? name : `${name}${n + 1}`)))
    const types = [schema.type ?? (schema.properties ? 'object' : [])].flat()
    if (types.length === 0) return 'Any'
    return union(types.map(type => this.#ofType(type, schema, name)))
  }

  #ofType(type: string, schema: JsonSchema, name: string): string {
    if (type === 'array') return `list[${schema.items ? this.typeOf(schema.items, `${name}Item`) : 'Any'}]`
    if (type === 'string' && schema.format === 'binary') return 'bytes | str'
    if (type !== 'object') return simple[type] ?? 'Any'
    if (hasMembers(schema)) return this.#object(name, schema)
    const { additionalProperties: values } = schema
    return `dict[str, ${typeof values === 'object' ? this.typeOf(values, `${name}Value`) : 'Any'}]`
  }

  #object(name: string, { properties = {}, required = [], description }: JsonSchema): string {
    // Reserves the place of the type before those of inner objects.
    this.#add(name, '')
    const members = Object.entries(properties).map(([member, schema]): [string, string] => {
      const type = this.typeOf(schema, `${name}${toPascalCase(member.replace(/\W/g, '_'))}`)
      return [member, required.includes(member) ? type : `NotRequired[${type}]`]
    })
    const lines = members.every(([member]) => isName(member))
      ? [
          `class ${name}(TypedDict):`,
          ...docstring(description),
          ...members.map(([member, type]) => `    ${member}: ${type}`),
        ]
      : [
          `${name} = TypedDict(`,
          `    ${quoted(name)},`,
          `    {${members.map(([member, type]) => `${quoted(member)}: ${quoted(type)}`).join(', ')}},`,
          ')',
        ]
    this.#written.set(name, lines.join('\n'))
    return name
  }

  #add(name: string, text: string): void {
    if (this.#written.has(name)) throw new Error(`Two types of Python would be called ${name}.`)
    this.#written.set(name, text)
  }
}

const hasMembers = ({ properties }: JsonSchema): boolean => Object.keys(properties ?? {}).length > 0

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ')

function literalOf(choices: readonly unknown[]): string {
  const values = choices
    .filter(choice => choice !== null)
    .map(choice => (typeof choice === 'boolean' ? (choice ? 'True' : 'False') : JSON.stringify(choice)))
  const literal = values.length > 0 ? [`Literal[${values.join(', ')}]`] : []
  return union(choices.includes(null) ? [...literal, 'None'] : literal)
}

/** The first sentence of a description, escaped as a docstring. */
function docstring(text: string | undefined, indent = '    '): string[] {
  if (!text) return []
  const lines = text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").split('\n')
  if (lines.length === 1) return [`${indent}"""${lines[0]?.replace(/"$/, '" ')}"""`]
  return [`${indent}"""`, ...lines.map(line => (line === '' ? '' : `${indent}${line}`)), `${indent}"""`]
}
