import { describe, expect, test } from '@jest/globals'
import { publishedOperations } from '../../../../src/kernel/contract/area.ts'
import { acceptsFiles, acceptsForm } from '../../../../src/kernel/contract/upload.ts'
import { allAreas, owner, send } from './service.ts'

const operations = publishedOperations(allAreas).filter(({ operation: { callers } }) =>
  callers.some(caller => caller === 'key' || caller === 'public'),
)
const withFiles = operations.filter(({ operation }) => acceptsFiles(operation))
const withForms = operations.filter(({ operation }) => acceptsForm(operation))

const MULTIPART = 'multipart/form-data; boundary=edge'
const FORM = 'application/x-www-form-urlencoded'
const edge = (text: string): string => `--edge\r\n${text}\r\n--edge--\r\n`

const garbage: readonly [type: string, body: string][] = [
  [MULTIPART, '--edge'],
  [MULTIPART, '--edge--\r\n'],
  [MULTIPART, edge('')],
  [MULTIPART, edge('Content-Disposition: form-data\r\n\r\nx')],
  [MULTIPART, edge('Content-Disposition: form-data; name=colour\r\n\r\nred')],
  [MULTIPART, edge('Content-Disposition: form-data; name="colour"\r\n\r\nred')],
  [MULTIPART, edge('Content-Disposition: form-data; name="a"; filename="\u0000"\r\n\r\nx')],
  [MULTIPART, '\u0000'.repeat(5_000)],
  ['application/json', '{"file":"'],
  ['application/json', '[]'],
]

const formGarbage = [
  'colour=red',
  '%',
  '=',
  '&&=&',
  'a=1&a=2',
  '%00=%00',
  '__proto__=1',
  '\u0000',
  '{}',
  '[]',
]

const pathOf = (path: string): string => path.replace(/\{\w+\}/g, 'nothing_1')

describe('every contract that takes', () => {
  test.each(withFiles.map(one => [one.key, one] as const))('files refuses garbage: %s', async (_, one) => {
    for (const [type, body] of garbage) {
      const { status } = await send(body, { 'content-type': type }, owner, pathOf(one.operation.path))
      expect([type, body.slice(0, 80), status]).toEqual([type, body.slice(0, 80), 400])
    }
  })

  test.each(withForms.map(one => [one.key, one] as const))('a form refuses garbage: %s', async (_, one) => {
    for (const body of formGarbage) {
      const { status } = await send(body, { 'content-type': FORM }, owner, pathOf(one.operation.path))
      expect([body, status]).toEqual([body, 400])
    }
  })
})
