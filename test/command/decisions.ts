import { describe, expect, jest, test } from '@jest/globals'
import { waitForDecision } from '../../src/command/decisions.ts'
import { clock } from '../../src/values/system-clock.ts'
import { runCommand } from '../support/command.ts'
import { approvalsIn, signatureOver } from '../support/control/approvals.ts'
import { anAgentUnder, anIntent, type TestClient } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { enrolled } from '../support/identity/people.ts'

const service = await startTestService()
const { anApprover } = approvalsIn(service)

interface Waiting {
  readonly key: string
  /** At the nth wait of the command, from 1. */
  readonly atWait?: (n: number) => Promise<unknown>
}

async function running(argv: readonly string[], { key, atWait }: Waiting) {
  const waits: number[] = []
  const ran = await runCommand(argv, {
    env: { AGENTPAY_URL: service.url, AGENTPAY_KEY: key },
    wait: async milliseconds => {
      if (waits.push(milliseconds) > 50) throw new Error('it waits without end')
      await atWait?.(waits.length)
    },
  })
  return { ...ran, waits }
}

const POLICY = { autoApproveLimitEuros: 1 }
const denied = (client: TestClient, id: string) =>
  client.intents.deny({ params: { id }, body: { reason: 'Too dear\u001b[2J' } })

describe('agentpay intents wait', () => {
  test('returns 0 and the intent once it is approved', async () => {
    const { client, key, agent } = await anApprover(POLICY)
    const { id } = await anIntent(client, agent.id)
    const atWait = async (n: number) => n === 2 && client.intents.approve({ params: { id } })
    const { code, out, err, waits } = await running(['intents', 'wait', id], { key, atWait })
    expect([code, err, waits]).toEqual([0, `${id} is approved.\n`, [2_000, 2_000]])
    expect(JSON.parse(out)).toMatchObject({ id, status: 'approved' })
  })

  test('ends with 1 where it is denied or cancelled, and shows the comment harmlessly', async () => {
    const { client, key, agent } = await anApprover(POLICY)
    const [one, other] = [await anIntent(client, agent.id), await anIntent(client, agent.id)]
    await denied(client, one.id)
    const { code, err, waits } = await running(['intents', 'wait', one.id], { key })
    expect([code, err, waits]).toEqual([1, `${one.id} is denied. “Too dear\\u001b[2J”\n`, []])
    await client.intents.cancel({ params: { id: other.id } })
    expect(await running(['intents', 'wait', other.id], { key })).toMatchObject({
      code: 1,
      err: `${other.id} is cancelled.\n`,
    })
  })

  test('gives up after the time that it is given', async () => {
    const { client, key, agent } = await anApprover(POLICY)
    const { id } = await anIntent(client, agent.id)
    const { code, out, err, waits } = await running(['intents', 'wait', id, '--timeout', '3'], { key })
    expect([code, out, err, waits]).toEqual([
      1,
      '',
      `${id} is still waiting for a decision after 3 seconds.\n`,
      [2_000, 1_000],
    ])
    const wrong = await running(['intents', 'wait', id, '--timeout', 'soon'], { key })
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('--timeout')])
    expect((await running(['intents', 'wait', 'intent_x'], { key })).err).toContain('(intent_not_found)')
  })
})

test('the time of a slow service counts, and bounds each of its answers', async () => {
  const [given, ticks]: [(number | undefined)[], { now: number }] = [[], { now: 0 }]
  const clockTicks = jest.spyOn(clock, 'ticks').mockImplementation(() => ticks.now)
  const wait = async (milliseconds: number) => {
    ticks.now += milliseconds
  }
  const intent = { id: 'intent_1', status: 'created', approval: null }
  const result = async (_: string, { withinMs }: { readonly withinMs?: number } = {}) => {
    given.push(withinMs)
    ticks.now += 3_000
    return intent
  }
  const context = { result, note: () => undefined, io: { wait } } as never
  const decided = await waitForDecision(context, 'intent_1', 10_000)
  clockTicks.mockRestore()
  expect([decided, given]).toEqual([undefined, [10_000, 5_000, 1_000]])
})

describe('agentpay intents approve', () => {
  test('approves with the key where a key may', async () => {
    const { client, key, agent } = await anApprover(POLICY)
    const { id } = await anIntent(client, agent.id)
    const ran = await running(['intents', 'approve', id, '--comment', 'Go ahead'], { key })
    expect([ran.code, ran.err, JSON.parse(ran.out)]).toEqual([
      0,
      '',
      expect.objectContaining({ id, status: 'approved', comment: 'Go ahead' }),
    ])
    expect(await running(['intents', 'approve', id], { key })).toMatchObject({
      code: 1,
      err: expect.stringContaining('(intent_not_waiting)'),
    })
  })

  test('opens the page if a passkey is required, and waits for the decision', async () => {
    const { client, key, agent, person } = await anApprover({ requireAttestation: true })
    const { id } = await anIntent(client, agent.id)
    const atWait = async () =>
      client.intents.approve({
        params: { id },
        body: { webauthnAssertion: await signatureOver(client, id, person) },
      })
    const ran = await running(['intents', 'approve', id, '--no-browser'], { key, atWait })
    expect(ran.err).toContain(`\n  ${service.url}/approve/${id}\n`)
    expect([ran.code, JSON.parse(ran.out)]).toEqual([
      0,
      expect.objectContaining({
        id,
        status: 'approved',
        decidedBy: expect.objectContaining({ id: person.personId }),
      }),
    ])
    const page = await fetch(`${service.url}/approve/${id}`, {
      headers: { accept: 'text/html' },
      redirect: 'manual',
    })
    expect([page.status, page.headers.get('location')]).toEqual([303, `../login?to=approve%2F${id}`])
  })

  test('says how many approvals are missing where the policy asks several people', async () => {
    const { person, ...owner } = await anApprover()
    const { client, key } = owner
    const other = await enrolled(service, owner, { by: person })
    const step = { aboveEuros: 10, of: 'owners', need: 2, withinMinutes: 60, then: 'deny' } as const
    const agent = await anAgentUnder(client, { approval: [step] })
    const { id } = await anIntent(client, agent.id)
    const signature = JSON.stringify(await signatureOver(client, id, person))
    const recorded = await running(['intents', 'approve', id, '--webauthn-assertion', signature], { key })
    expect([recorded.code, recorded.err, JSON.parse(recorded.out).status]).toEqual([
      0,
      'Recorded: 1 of 2 approvals. 1 more is needed.\n',
      'created',
    ])
    const atWait = async () =>
      client.intents.approve({
        params: { id },
        body: { webauthnAssertion: await signatureOver(client, id, other) },
      })
    const ran = await running(['intents', 'approve', id, '--no-browser'], { key, atWait })
    expect(ran.err).toMatch(/\n1 of 2 approvals\. 1 more is needed\.\n.* is approved\.\n$/)
    expect(ran.code).toBe(0)
  })

  test('ends with 1 where the person denies on the page', async () => {
    const { client, key, agent } = await anApprover({ requireAttestation: true })
    const { id } = await anIntent(client, agent.id)
    const ran = await running(['intents', 'approve', id, '--no-browser'], {
      key,
      atWait: () => denied(client, id),
    })
    expect([ran.code, ran.err]).toEqual([1, expect.stringContaining(`${id} is denied.`)])
  })
})
