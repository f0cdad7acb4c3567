import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { roleScopes, scopes } from '../../../src/kernel/contract/scopes.ts'
import { service } from './people-service.ts'

const page = readFileSync('docs/people.md', 'utf8')
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
    const { api } = areas.people
    const existing = Object.values(api).flatMap(({ fails = {}, callers }) =>
      callers.length > 0 ? Object.keys(fails) : [],
    )
    const links = ['link_used', 'link_expired', 'link_unknown']
    const selfEvident = ['person_not_found']
    expect(new Set(explained)).toEqual(
      new Set([...existing, ...links].filter(code => !selfEvident.includes(code))),
    )
  })

  test('tells of each role what it may do', () => {
    const reads = scopes.filter(scope => scope.endsWith(':read'))
    expect(roleScopes.owner).toEqual(new Set(scopes))
    expect(roleScopes.viewer).toEqual(new Set(reads))
    const beyond = [...roleScopes.approver].filter(scope => !reads.includes(scope)).sort()
    expect(beyond).toEqual(['card-requests:approve', 'intents:approve', 'transfers:confirm-payee'])
  })
})
