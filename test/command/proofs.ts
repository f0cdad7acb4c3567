import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { runCommand } from '../support/command.ts'
import { anApprovedIntent, approvalsIn } from '../support/control/approvals.ts'
import { manipulated, ofThree } from '../support/control/manipulated-proofs.ts'
import { keySet } from '../support/control/several-approvals.ts'
import { startTestService } from '../support/harness.ts'
import { temporaryFolder } from '../support/processes/folders.ts'

const service = await startTestService()
const { anApprover } = approvalsIn(service)

describe('agentpay verify', () => {
  test('checks the proof of an approval without any service, and refuses one that was changed', async () => {
    const { client, key, agent, person } = await anApprover()
    const intent = await anApprovedIntent(client, agent.id, person)
    const cwd = temporaryFolder()
    const env = { AGENTPAY_URL: service.url, AGENTPAY_KEY: key }
    await runCommand(['intents', 'approval', intent.id, '-o', 'approval.json'], { env, cwd })
    const alone = await runCommand(['verify', 'approval.json'], { cwd })
    expect([alone.code, alone.err]).toEqual([
      2,
      expect.stringContaining('agentpay signing-keys jwks -o jwks.json'),
    ])

    await runCommand(['signing-keys', 'jwks', '-o', 'jwks.json'], { env, cwd })
    const { code, out } = await runCommand(['verify', 'approval.json'], { cwd })
    expect([code, JSON.parse(out)]).toEqual([
      0,
      expect.objectContaining({
        intentId: intent.id,
        amountEuros: '25.00',
        person: expect.objectContaining({ name: 'Ada Lovelace' }),
      }),
    ])

    const { jws, openings } = JSON.parse(readFileSync(join(cwd, 'approval.json'), 'utf8'))
    const [head, claims = '', signature] = jws.split('.')
    const changed = Buffer.from(claims, 'base64url').toString().replace('25.00', '26.00')
    const forged = [head, Buffer.from(changed).toString('base64url'), signature].join('.')
    writeFileSync(join(cwd, 'forged.json'), JSON.stringify({ jws: forged, openings }))
    const refused = await runCommand(['verify', 'forged.json', '--keys', 'jwks.json'], { cwd })
    expect([refused.code, refused.out, refused.err]).toEqual([
      1,
      '',
      expect.stringMatching(/^The proof is not valid\./),
    ])
  })

  test('lists each person of a proof of several approvals, and says what is wrong with another', async () => {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'jwks.json'), JSON.stringify(keySet))
    writeFileSync(join(cwd, 'approval.json'), JSON.stringify(ofThree))
    const { code, out } = await runCommand(['verify', 'approval.json', '--table'], { cwd })
    expect(code).toBe(0)
    for (const said of ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'person_2'])
      expect(out).toContain(said)
    for (const [, proof, message] of manipulated) {
      const refused = await runCommand(['verify', '-', '--keys', 'jwks.json'], {
        cwd,
        input: JSON.stringify(proof),
      })
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(message)])
    }
  })

  test.each([
    ['{', 'is not JSON'],
    ['{"jws":1}', 'is not a proof'],
    ['null', 'is not a proof'],
  ])('says what is wrong with a file of %s', async (content, words) => {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'jwks.json'), '{"keys":[]}')
    const { code, err } = await runCommand(['verify', '-'], { cwd, input: content })
    expect([code, err]).toEqual([2, expect.stringContaining(words)])
  })
})
