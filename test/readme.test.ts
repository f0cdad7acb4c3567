import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { startTestService } from './support/harness.ts'
import { temporaryFolder } from './support/processes/folders.ts'

const readme = readFileSync('README.md', 'utf8')
const flow = /<!-- flow -->\n```bash\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
const run = promisify(execFile)

const service = await startTestService()

/** A folder with the instance file that `npm start` writes. */
async function aCheckout(): Promise<string> {
  const { key: apiKey } = await service.owner()
  const folder = temporaryFolder()
  mkdirSync(join(folder, '.data'))
  writeFileSync(join(folder, '.data/instance.json'), JSON.stringify({ url: service.url, apiKey }))
  return folder
}

const shells = { bash: ['-euo', 'pipefail', '-c'], sh: ['-ec'] }

test.each(Object.entries(shells))(
  'the first flow of the README works as pasted into %s',
  async (shell, flags) => {
    const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
    const { stdout } = await run(shell, [...flags, flow], { cwd: await aCheckout(), env: { PATH } })
    const answers = stdout
      .replaceAll('}{', '}\n{')
      .split('\n')
      .map(line => JSON.parse(line))
    expect(answers).toHaveLength(18)
    expect(answers.filter(answer => answer.error)).toEqual([])
    const [
      policy,
      ,
      funded,
      token,
      autoApproved,
      approved,
      authorized,
      cleared,
      payments,
      paid,
      credentials,
      toggled,
      frozen,
      unfrozen,
      balance,
      proof,
      ...rest
    ] = answers
    const [events, audit] = rest
    expect(policy).toMatchObject({ name: 'Research', maxTransactionEuros: 50 })
    expect(token.token).toMatch(/^at_test_/)
    expect([autoApproved.status, autoApproved.decidedBy.type]).toEqual(['approved', 'policy'])
    expect([approved.status, approved.comment]).toEqual(['approved', 'Go ahead'])
    expect([funded.availableEuros, balance.availableEuros, balance.heldEuros]).toEqual([60, 23, 9.5])
    expect([authorized.reply, cleared.reply]).toEqual(['approved', 'noted'])
    expect(payments.data).toMatchObject([{ status: 'cleared', source: 'intent', intentId: approved.id }])
    expect(paid).toMatchObject({ merchant_status: 200, receipt: expect.any(String) })
    expect(credentials.data).toMatchObject([{ id: paid.credential_id, status: 'consumed', amountEuros: 2.5 }])
    expect(proof).toMatchObject({ ok: true, problems: [] })
    expect(toggled.requireIntent).toBe(true)
    expect([frozen.status, unfrozen.status]).toEqual(['frozen', 'active'])
    expect(events.data.map((event: { event: string }) => event.event)).toContain('agent.unfrozen')
    expect(audit.data.length).toBeGreaterThan(0)
  },
)

test('the first flow of the README turns comments on in zsh, the shell of macOS', () => {
  expect(flow).toMatch(/^\[ -z "\$\{ZSH_VERSION:-\}" \] \|\| setopt interactivecomments\n[^#]/)
})
