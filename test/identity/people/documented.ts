import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { assertionRefusals } from '../../../src/identity/passkeys/index.ts'
import { personLinkRefusals } from '../../../src/identity/people/schemas.ts'
import type { Area } from '../../../src/kernel/contract/area.ts'
import { allScopeNames, type PersonRole, roleScopes } from '../../../src/kernel/contract/scopes.ts'
import { service } from './people-service.ts'

const page = readFileSync('docs/how-to/people.md', 'utf8')
const run = promisify(execFile)

/** The codes that a page explains: the first column of its table of refusals. */
const explained = [
  ...page.slice(page.indexOf('## Refusals')).matchAll(/^\| (`\w+`(?:, `\w+`)*) \|/gm),
].flatMap(([, codes = '']) => codes.replaceAll('`', '').split(', '))

describe('the page about people', () => {
  test('has a flow of inviting that works as it is pasted', async () => {
    const flow = /<!-- inviting -->\n```bash\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
    const { key: KEY } = await service.owner()
    const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', flow], {
      env: { PATH, KEY, URL: service.url },
    })
    const answers = stdout
      .replaceAll('}{', '}\n{')
      .split('\n')
      .map(line => JSON.parse(line))
    expect(answers).toMatchObject([
      { kind: 'join', url: expect.stringContaining('/join#lnk_') },
      { role: 'viewer', status: 'invited' },
      { data: [{ name: 'Grace Hopper' }] },
      { status: 'removed', email: null },
    ])
  })

  test('explains the refusals of the operations on people, and none that does not exist', () => {
    const codesOf = ({ api }: Pick<Area, 'api'>): string[] =>
      Object.values(api).flatMap(({ fails = {}, callers }) => (callers.length > 0 ? Object.keys(fails) : []))
    const signing = Object.keys(assertionRefusals)
    const wanted = [...codesOf(areas.people), ...Object.keys(personLinkRefusals)].filter(
      code => code !== 'person_not_found' && !signing.includes(code),
    )
    expect(explained).toEqual(expect.arrayContaining(wanted))
    const existing = [...[areas.people, areas.passkeys, areas.console].flatMap(codesOf), 'rate_limited']
    expect(explained.filter(code => !existing.includes(code))).toEqual([])
  })

  test('lists the rights of each role', () => {
    const reads = allScopeNames.filter(scope => scope.endsWith(':read'))
    const beyondReading = (role: PersonRole) =>
      [...roleScopes[role]].filter(scope => !reads.includes(scope)).sort()
    expect(roleScopes.owner).toEqual(new Set(allScopeNames))
    // All people manage their own channels, passkeys and sessions.
    expect(beyondReading('viewer')).toEqual([
      'channels:write',
      'console:sign-out',
      'passkeys:write',
      'sessions:write',
    ])
    expect(beyondReading('approver')).toEqual([
      'canvas:apply',
      'canvas:write',
      'card-requests:approve',
      'channels:write',
      'console:sign-out',
      'intents:approve',
      'passkeys:write',
      'push:write',
      'sessions:write',
      'transfers:confirm-payee',
    ])
  })
})
