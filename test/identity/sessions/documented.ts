import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { sessionsArea } from '../../../src/identity/sessions/sessions.ts'
import { http } from '../../support/harness.ts'
import { service } from './service.ts'

const page = readFileSync('docs/how-to/devices.md', 'utf8')
const run = promisify(execFile)

const explained = [
  ...page.slice(page.indexOf('## Refusals')).matchAll(/^\| (`\w+`(?:, `\w+`)*) \|/gm),
].flatMap(([, codes = '']) => codes.replaceAll('`', '').split(', '))

describe('the page about devices', () => {
  test('has a flow that works as it is pasted', async () => {
    const flow = /<!-- device -->\n```bash\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', flow], {
      cwd: mkdtempSync(join(tmpdir(), 'device-')),
      env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, URL: service.url },
    })
    expect(JSON.parse(stdout)).toEqual({ error: 'authorization_pending' })
  })

  test('explains the refusals of devices, and none that does not exist', () => {
    const codes = Object.entries(sessionsArea.api)
      .filter(([name]) => name !== 'verify')
      .flatMap(([, { fails = {} }]) => Object.keys(fails))
    expect(explained.toSorted()).toEqual([...new Set(codes)].sort())
  })
})

test('the metadata of RFC 8414 lead to where devices ask', async () => {
  const { status, body } = await http(service.url, 'GET', '/.well-known/oauth-authorization-server', {})
  expect([status, body.issuer]).toEqual([200, service.url])
  expect(body.dpop_signing_alg_values_supported).toContain('ES256')
  for (const endpoint of [body.device_authorization_endpoint, body.token_endpoint])
    expect((await fetch(endpoint, { method: 'POST', body: new URLSearchParams() })).status).toBe(400)
})
