import { execFileSync } from 'node:child_process'
import { describe, expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import { NamedFile } from '../../src/command/arguments/files.ts'
import { memberOptions } from '../../src/command/arguments/members.ts'
import { parseOperationCall, requireArguments } from '../../src/command/arguments/operation-call.ts'
import { operationCommandOptions } from '../../src/command/arguments/options.ts'
import { exampleArguments, exampleCommand } from '../../src/command/help/operation-help.ts'
import { readCommandDefinitions } from '../../src/command/table.ts'
import { publishedOperations } from '../../src/kernel/contract/area.ts'
import { acceptsFiles } from '../../src/kernel/contract/upload.ts'
import { withJsonNames } from '../../src/values/json-names.ts'

const table = readCommandDefinitions()
const commands = publishedOperations(areas).map(({ key, operation }) => ({
  key,
  operation,
  command: table.get(key),
}))

/** File names stand for contents of the contract. */
const contentOf = (members: object, example: object) =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      value instanceof NamedFile ? (example as Record<string, unknown>)[name] : value,
    ]),
  )

describe('the table of commands', () => {
  test('gives each published operation a noun and a verb of its own', () => {
    const names = commands.map(({ command }) => `${command.noun} ${command.verb}`)
    expect(new Set(names).size).toBe(names.length)
    for (const { key, command } of commands) expect(table.nouns[command.noun]?.verbs[command.verb]).toBe(key)
  })

  test('has method, path, callers and scope of each contract', () => {
    for (const { operation, command } of commands)
      expect([command.method, command.path, command.callers, command.scope]).toEqual([
        operation.method,
        operation.path,
        operation.callers,
        operation.scope,
      ])
  })

  test('reads the line of one operation, and none of an unknown one', () => {
    expect(table.find('intents.create')).toMatchObject({ method: 'POST', path: '/intents', takesKey: true })
    for (const key of ['intents.nothing', 'version', 'intents', '"', 'nouns.x'])
      expect(table.find(key)).toBeUndefined()
  })

  test.each(commands.map(one => [one.key, one] as const))(
    'the example of %s means what the contract says',
    (_, { operation, command }) => {
      const call = parseOperationCall(command, exampleArguments(command))
      requireArguments(command, call)
      // A body without members is not sent at all, and means `{}`.
      const body = contentOf(call.members ?? {}, operation.example ?? {})
      expect(body).toEqual(operation.example ?? {})
      const isJson = operation.example !== undefined && !acceptsFiles(operation)
      if (isJson) expect(operation.body.safeParse(withJsonNames(operation.body, body)).error).toBeUndefined()
      expect(Object.values(call.params)).toEqual(command.params.map(({ example }) => example))
    },
  )

  test('has examples that a shell hands over unchanged', () => {
    const script = commands.map(({ command }) => exampleCommand(command)).join('\n')
    const text = execFileSync('bash', [
      '-c',
      `agentpay() { printf '%s\\037' "$@"; printf '\\036'; }\n${script}`,
    ])
    const lines = text.toString().split('\u001e').slice(0, -1)
    expect(lines.map(line => line.split('\u001f').slice(2, -1))).toEqual(
      commands.map(({ command }) => exampleArguments(command)),
    )
  })

  test('has only one member that is called like an option of the command', () => {
    const taken = commands.flatMap(({ command }) =>
      memberOptions(command).filter(name => Object.hasOwn(operationCommandOptions, name)),
    )
    expect([...new Set(taken)]).toEqual(['body'])
  })
})
