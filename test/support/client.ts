import { readFileSync } from 'node:fs'
import type { areas } from '../../src/areas.ts'
import { type Client, type ClientOptions, client } from '../../src/derive/client.ts'
import type { Areas } from '../../src/kernel/contract/area.ts'

export type TestClient = Client<typeof areas>

interface Table {
  readonly operations: Readonly<Record<string, { readonly method: string; readonly path: string }>>
}

let nouns: Areas | undefined

/**
 * Every operation with its contract's types. Addresses come from the command table, because the contracts are
 * 1,500 modules.
 */
export function clientAt(options: ClientOptions): TestClient {
  nouns ??= readNouns()
  return client(nouns, options) as unknown as TestClient
}

function readNouns(): Areas {
  const { operations }: Table = JSON.parse(readFileSync('commands.json', 'utf8'))
  const found: Record<string, { api: Record<string, unknown> }> = {}
  for (const [key, { method, path }] of Object.entries(operations)) {
    const [noun = '', verb = ''] = key.split('.')
    found[noun] ??= { api: {} }
    found[noun].api[verb] = { method, path }
  }
  return found as unknown as Areas
}
