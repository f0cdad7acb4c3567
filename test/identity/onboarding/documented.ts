import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { bodyOf } from '../../support/factories.ts'
import { DASHBOARD_SECRET } from '../../support/harness.ts'
import { busy } from '../../support/http/in-front.ts'
import { launch } from '../../support/processes/launched.ts'
import { service } from './onboarding-service.ts'

const page = readFileSync('docs/how-to/onboarding.md', 'utf8')
const run = promisify(execFile)

const flowOf = (name: string): string =>
  new RegExp(`<!-- ${name} -->\n\`\`\`bash\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? ''

async function answersOf(name: string, KEY: string) {
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  const env = { PATH, KEY, URL: service.url, SECRET: DASHBOARD_SECRET }
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', flowOf(name)], { env })
  return stdout
    .replaceAll('}{', '}\n{')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
}

describe('the page about onboarding', () => {
  test('has a flow of a company that works as it is pasted', async () => {
    const { key } = await service.owner()
    expect(await answersOf('company', key)).toMatchObject([
      { status: 'submitted', missing: ['the identity of Ada Lovelace'] },
      { data: [{ status: 'submitted' }], hasMore: expect.any(Boolean) },
      { status: 'needs_information' },
      { status: 'in_review', website: 'https://www.example.com' },
      { error: expect.stringContaining('Missing: the identity of Ada Lovelace') },
      { status: 'withdrawn' },
    ])
  })

  test('explains each refusal of an onboarding, and none that does not exist', () => {
    const table = page.slice(page.indexOf('### Refusals of an onboarding'))
    const explained = [...table.slice(0, table.indexOf('\n## ')).matchAll(/^\| `(\w+)` \|/gm)].map(
      ([, code]) => code,
    )
    const codes = Object.values(areas.onboarding.api).flatMap(({ fails = {} }) => Object.keys(fails))
    expect(new Set(explained)).toEqual(new Set(codes.filter(code => code !== 'onboarding_not_found')))
  })
})

describe('the example', () => {
  test('takes a company from nothing to its first live key, and prints no key', async () => {
    const example = launch(process.execPath, ['examples/onboarding/company.mjs'], {
      URL: await busy(service.url),
      DASHBOARD_SECRET,
    })
    expect([await example.exit, example.output()]).toEqual([
      0,
      expect.stringMatching(
        /Approved: Analytical Engines GmbH is verified, and its first live key ends in \w{4}\./,
      ),
    ])
    expect(example.output()).toContain('Missing: the identity of Ada Lovelace; the identity of Later Hopper')
    expect(example.output()).not.toMatch(/sk_/)
    const { data } = await bodyOf(service.dash.onboarding.list({ query: { status: 'approved', limit: 1 } }))
    expect(data[0]?.informationRequests).toHaveLength(1)
  })
})
