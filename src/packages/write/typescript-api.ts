import type { JsonSchema } from '../../derive/openapi/types.ts'
import { universalProblems } from '../../kernel/contract/problem.ts'
import type { ClientContract, ClientOperation } from './contract.ts'
import { isJsIdentifier, referencedRecord, toPascalCase } from './names.ts'
import { clientOnlyVerbs } from './own-verbs.ts'

const HEAD = '// Written from the contracts of the service by `npm run packages`.\n'

/** Without spaces and lines, since browsers load it. */
export function renderOperationsModule({ operations }: ClientContract): string {
  const nouns = [...Map.groupBy(operations, ({ noun }) => noun)].map(([noun, own]) => {
    const verbs = own.map(operation => `${operation.verb}:'${lineOf(operation)}'`)
    return `${noun}:{${verbs}},`
  })
  return `${HEAD}export const operations = {\n${nouns.join('\n')}\n}\n`
}

/** `POST /cards/{id}/fund bk wallet:fromWalletId`: `operationFrom` reads it. */
function lineOf(operation: ClientOperation): string {
  const { method, path, input, idMembers, takesKey, isRepeatable, answers, isCsv, accepted } = operation
  const letters = [
    input?.place === 'body' && 'b',
    input?.place === 'query' && 'q',
    takesKey && 'k',
    isRepeatable && 'r',
    answers === 'list' && 'l',
    answers === 'file' && 'f',
    isCsv && 'c',
    answers === 'stream' && 's',
    accepted && 'a',
  ]
  return [method, path, letters.filter(Boolean).join(''), idMembers.join()].join(' ').trim()
}

export function renderApiTypes(contract: ClientContract): string {
  const { schemas, operations } = contract
  const nouns = [...Map.groupBy(operations, ({ noun }) => noun)]
  return [
    `${HEAD}import type { AsyncCallOptions, CallOptions, WaitOptions } from './packages/typescript/options.js'`,
    `import type { Pages } from './packages/typescript/pages.js'\n`,
    ...Object.entries(schemas).map(([name, schema]) => declared(name, typeOf(schema), schema.description)),
    ...operations.flatMap(inputAndResult),
    ...nouns.map(([noun, own]) => nounType(noun, own, contract)),
    `export interface Api {\n${nouns.map(([noun]) => `  readonly ${noun}: ${nounName(noun)}`).join('\n')}\n}\n`,
    refusalTypes(operations),
  ].join('\n')
}

const declared = (name: string, type: string, description?: string): string =>
  [
    ...comment(description, ''),
    type.startsWith('{') && type.endsWith('}') && !type.includes('\n} |')
      ? `export interface ${name} ${type}\n`
      : `export type ${name} = ${type}\n`,
  ].join('\n')

const inputName = ({ key }: ClientOperation): string => `${toPascalCase(key)}Input`
const resultName = ({ key }: ClientOperation): string => `${toPascalCase(key)}Result`
const nounName = (noun: string): string => `${toPascalCase(noun)}Api`

/** Inputs and answers without a name in the contract are named after their operation. */
function inputAndResult(operation: ClientOperation): string[] {
  const { input, result } = operation
  return [
    ...(input ? [declared(inputName(operation), typeOf(input.schema))] : []),
    ...(result && !result.$ref ? [declared(resultName(operation), typeOf(result))] : []),
  ]
}

function nounType(noun: string, operations: readonly ClientOperation[], { nouns }: ClientContract): string {
  const members = operations.flatMap(operation => [
    ...comment([operation.summary, operation.description].filter(Boolean).join('\n\n'), '  '),
    ...acceptedBy(operation),
    `  ${operation.verb}(${argumentsOf(operation)}): ${returnedBy(operation)}`,
  ])
  const own = (clientOnlyVerbs[noun] ?? []).flatMap(({ about, typescript }) => [
    ...comment(about, '  '),
    `  ${typescript}`,
  ])
  return [
    ...comment(nouns[noun], ''),
    `export interface ${nounName(noun)} {`,
    ...members,
    ...own,
    '}\n',
  ].join('\n')
}

/** Without waiting it answers with another record. */
function acceptedBy(operation: ClientOperation): string[] {
  const { accepted, verb } = operation
  if (!accepted) return []
  const given = argumentsOf(operation, 'options: AsyncCallOptions')
  return [`  ${verb}(${given}): Promise<${typeOf(accepted)}>`]
}

function argumentsOf(operation: ClientOperation, options = 'options?: CallOptions'): string {
  const { params, input } = operation
  return [
    ...params.map(name => `${name}: string`),
    ...(input ? [`input${input.isRequired ? '' : '?'}: ${inputName(operation)}`] : []),
    options,
  ].join(', ')
}

function returnedBy(operation: ClientOperation): string {
  const { answers, result } = operation
  if (answers === 'file') return 'Promise<Response>'
  if (!result) return 'Promise<void>'
  const type = result.$ref ? typeOf(result) : resultName(operation)
  if (answers === 'list') return `Pages<${type}>`
  return answers === 'stream' ? `AsyncGenerator<${type}, void>` : `Promise<${type}>`
}

function refusalTypes(operations: readonly ClientOperation[]): string {
  const common = Object.keys(universalProblems).map(code => `  | '${code}'`)
  const lines = operations.map(
    ({ key, codes }) => `  '${key}': ${[...codes.map(code => `'${code}'`), 'ProblemCode'].join(' | ')}`,
  )
  return [
    '/** What every operation can be refused with. */',
    `export type ProblemCode =\n${common.join('\n')}\n`,
    '/** The codes with which each operation can be refused. */',
    `export interface RefusalCodes {\n${lines.join('\n')}\n}\n`,
    'export type OperationKey = keyof RefusalCodes\n',
  ].join('\n')
}

const simple: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

function typeOf(schema: JsonSchema, indent = ''): string {
  if (schema.$ref) return referencedRecord(schema.$ref)
  const choices = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  if (choices) return union(choices.map(choice => JSON.stringify(choice)))
  const options = schema.anyOf ?? schema.oneOf
  if (options) return union(options.map(option => typeOf(option, indent)))
  const types = [schema.type ?? []].flat()
  if (types.length === 0) return schema.properties ? objectType(schema, indent) : 'unknown'
  return union(types.map(type => ofType(type, schema, indent)))
}

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ') || 'never'

function ofType(type: string, schema: JsonSchema, indent: string): string {
  if (type === 'object') return objectType(schema, indent)
  if (type === 'array') return `Array<${schema.items ? typeOf(schema.items, indent) : 'unknown'}>`
  if (type === 'string' && schema.format === 'binary') return 'Blob | string'
  return simple[type] ?? 'unknown'
}

function objectType({ properties, required = [], additionalProperties }: JsonSchema, indent: string): string {
  if (!properties || Object.keys(properties).length === 0) {
    if (typeof additionalProperties === 'object')
      return `Record<string, ${typeOf(additionalProperties, indent)}>`
    return additionalProperties === false ? 'Record<string, never>' : 'Record<string, unknown>'
  }
  const members = Object.entries(properties).flatMap(([name, member]) => [
    ...comment(member.description, `${indent}  `),
    `${indent}  ${isJsIdentifier(name) ? name : JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(member, `${indent}  `)}`,
  ])
  return `{\n${members.join('\n')}\n${indent}}`
}

function comment(text: string | undefined, indent: string): string[] {
  if (!text) return []
  const lines = text.replaceAll('*/', '*\u200b/').split('\n')
  if (lines.length === 1) return [`${indent}/** ${lines[0]} */`]
  return [`${indent}/**`, ...lines.map(line => `${indent} * ${line}`.trimEnd()), `${indent} */`]
}
