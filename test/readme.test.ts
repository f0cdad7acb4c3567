import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { areas } from '../src/areas.ts'
import { published } from '../src/kernel/area.ts'
import { startHouse } from './support/harness.ts'

const subjects = readdirSync('docs').filter(name => name.endsWith('.md'))
const pages = ['README.md', 'CONTRIBUTING.md', ...subjects.map(name => `docs/${name}`)].map(path => ({
  path,
  text: readFileSync(path, 'utf8'),
}))
const readme = readFileSync('README.md', 'utf8')
const flow = /<!-- flow -->\n```bash\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
const run = promisify(execFile)

const house = await startHouse()

test('the first flow of the README works as it is pasted', async () => {
  const { key } = await house.owner()
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  const env = { ...process.env, PATH, URL: house.url, KEY: key }
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', flow], { env })
  const answers = stdout
    .replaceAll('}{', '}\n{')
    .split('\n')
    .map(line => JSON.parse(line))
  expect(answers).toHaveLength(13)
  expect(answers.filter(answer => answer.error)).toEqual([])
  const [policy, , funded, token, alone, approved, toggled, frozen, unfrozen, balance, proof, ...rest] =
    answers
  const [events, audit] = rest
  expect(policy).toMatchObject({ name: 'Research', maxTransactionEuros: 50 })
  expect(token.token).toMatch(/^at_test_/)
  expect([alone.status, alone.decidedBy.type]).toEqual(['approved', 'policy'])
  expect([approved.status, approved.comment]).toEqual(['approved', 'Go ahead'])
  expect([funded.availableEuros, balance.availableEuros, balance.heldEuros]).toEqual([60, 25.5, 34.5])
  expect(proof).toMatchObject({ ok: true, problems: [] })
  expect(toggled.requireIntent).toBe(true)
  expect([frozen.status, unfrozen.status]).toEqual(['frozen', 'active'])
  expect(events.data.map((event: { event: string }) => event.event)).toContain('agent.unfrozen')
  expect(audit.data.length).toBeGreaterThan(0)
})

describe('the pages', () => {
  test('are all linked from the README', () => {
    expect(subjects.filter(name => !readme.includes(`](docs/${name})`))).toEqual([])
  })

  test('lead nowhere that is not there', () => {
    const links = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!http)([^)#]+)/g)].map(([, to]) => join(dirname(path), String(to))),
    )
    expect(links.length).toBeGreaterThan(subjects.length)
    expect(links.filter(link => !existsSync(link))).toEqual([])
  })

  test('name files that are there', () => {
    const named = pages.flatMap(
      ({ text }) => text.match(/\b(src|test|workflows|activities)\/[\w/-]+\.ts\b/g) ?? [],
    )
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter(file => !existsSync(file))).toEqual([])
  })

  test('name operations that are there', () => {
    const shapeOf = (path: string) => path.replace(/\{\w+\}/g, '{}')
    const there = new Set(
      published(areas).map(({ operation: { method, path } }) => `${method} ${shapeOf(path)}`),
    )
    const named = pages.flatMap(({ text }) =>
      [...text.matchAll(/`(GET|POST|PUT|PATCH|DELETE)\s(\/[\w/{}-]+)/g)].map(
        ([, method, path]) => `${method} ${shapeOf(String(path))}`,
      ),
    )
    expect(named.length).toBeGreaterThan(30)
    expect(named.filter(one => !there.has(one))).toEqual([])
  })
})
