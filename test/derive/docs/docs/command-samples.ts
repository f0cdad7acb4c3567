import { execFileSync } from 'node:child_process'
import { expect, test } from '@jest/globals'
import { areas } from '../../../../src/areas.ts'
import { parseOperationCall } from '../../../../src/command/arguments/operation-call.ts'
import { readCommandDefinitions } from '../../../../src/command/table.ts'
import { DocsBook } from '../../../../src/derive/docs/book.ts'
import { cliSample } from '../../../../src/derive/docs/samples.ts'
import { openapiDocument } from '../../../../src/derive/openapi/document.ts'
import { publishedOperations } from '../../../../src/kernel/contract/area.ts'

const table = readCommandDefinitions()
const examples = new Map(publishedOperations(areas).map(({ key, operation }) => [key, operation.example]))

test('the samples of agentpay mean what the contract says, as a shell hands them over', () => {
  const samples = new DocsBook(openapiDocument(areas)).entries.flatMap(entry => {
    const line = cliSample(entry)
    return line === undefined ? [] : [[entry.key, line] as const]
  })
  expect(samples.length).toBeGreaterThan(300)
  const script = samples.map(([, line]) => line).join('\n')
  const text = execFileSync('bash', [
    '-c',
    `agentpay() { printf '%s\\037' "$@"; printf '\\036'; }\n${script}`,
  ])
  const lines = text.toString().split('\u001e').slice(0, -1)
  const wrong = samples.filter(([key], index) => {
    const [noun = '', verb = '', ...words] = lines[index]?.split('\u001f').slice(0, -1) ?? []
    if (table.nouns[noun]?.verbs[verb] !== key) return true
    const { members, options } = parseOperationCall(table.get(key), words)
    const body = options.body === undefined ? members : JSON.parse(String(options.body))
    return !isSame(body ?? {}, examples.get(key) ?? {})
  })
  expect(wrong).toEqual([])
})

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
