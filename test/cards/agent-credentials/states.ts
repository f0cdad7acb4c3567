import { describe, expect, test } from '@jest/globals'
import type {
  IssuedNetworkToken,
  ProcessorCallDone,
  ProcessorFailure,
} from '../../../src/ports/card-processor.ts'
import { asked, issue } from '../../support/cards/agent-credentials.ts'
import { aShopper, lastAsk, processorWith } from '../../support/cards/reveal.ts'
import { sandboxWith } from '../../support/cards/sandbox.ts'
import { bodyOf } from '../../support/factories.ts'
import { ENCRYPTION_KEY, startTestService } from '../../support/harness.ts'
import { advance } from '../../support/sandbox.ts'
import { traceOf } from '../../support/trace.ts'

/** Replaces the processor's answer; undefined = the processor does what it is asked. */
let failure: ProcessorFailure | undefined
/** The service ends before it calls the processor. */
let isEnding = false
let told: string[] = []
const sandbox = sandboxWith(ENCRYPTION_KEY)
const service = await startTestService({
  outside: processorWith({
    networkToken: async (...args): Promise<IssuedNetworkToken | ProcessorFailure> =>
      failure ?? (sandbox.networkToken?.(...args) as Promise<IssuedNetworkToken>),
    setNetworkToken: async (_, state, { reference }): Promise<ProcessorCallDone | ProcessorFailure> => {
      if (isEnding) throw new Error('the service has ended')
      told.push(`${state} ${reference}`)
      return failure ?? { done: true }
    },
  }),
})

async function aToken() {
  failure = undefined
  const shopper = await aShopper(service)
  const { id } = await bodyOf(issue(shopper.client, asked(shopper)))
  told = []
  const change = (verb: 'revoke' | 'suspend' | 'resume', { client } = shopper) =>
    client.agentCredentials[verb]({ params: { id } })
  const read = () => bodyOf(shopper.client.agentCredentials.get({ params: { id } }))
  return { ...shopper, id, change, read }
}

const LATE = { failure: 'late' } as const

describe('a network token', () => {
  test('suspending and resuming a network token reaches the processor', async () => {
    const { id, change } = await aToken()
    const suspended = await change('suspend')
    expect(suspended).toMatchObject({ status: 200, body: { status: 'suspended', processorProblem: null } })
    expect(await traceOf(service, suspended)).toMatchObject({ events: ['agent_credential.suspended'] })
    const resumed = await change('resume')
    expect(resumed).toMatchObject({ status: 200, body: { status: 'active' } })
    expect(await traceOf(service, resumed)).toMatchObject({ events: ['agent_credential.resumed'] })
    expect(told.map(text => text.replace(/-\d+$/, ''))).toEqual([
      `suspended ${id}-suspended`,
      `active ${id}-active`,
    ])
    expect(await change('resume')).toMatchObject({ status: 400, code: 'agent_credential_not_suspended' })
  })

  test('is revoked for good', async () => {
    const { change } = await aToken()
    const revoked = await change('revoke')
    expect(revoked).toMatchObject({ status: 200, body: { status: 'revoked', processorProblem: null } })
    expect(await traceOf(service, revoked)).toMatchObject({ events: ['agent_credential.revoked'] })
    expect(told[0]).toMatch(/^deleted /)
    for (const verb of ['revoke', 'suspend', 'resume'] as const)
      expect(await change(verb)).toMatchObject({ status: 400, code: 'agent_credential_over' })
  })

  test.each(['suspend', 'revoke'] as const)(
    'pays nothing after a %s that the processor has not heard, and can be told again',
    async verb => {
      const { change } = await aToken()
      failure = LATE
      const status = verb === 'suspend' ? 'suspended' : 'revoked'
      const first = await change(verb)
      expect(first).toMatchObject({ status: 200, body: { status } })
      expect(first.body.processorProblem).toMatch(/did not answer/)
      failure = undefined
      const again = await change(verb)
      expect(again).toMatchObject({ status: 200, body: { status, processorProblem: null } })
      expect(await traceOf(service, again)).toMatchObject({ events: [] })
      expect(told).toHaveLength(2)
    },
  )

  test.each(['suspend', 'revoke'] as const)(
    'can be told again of a %s where the service has ended before it told the processor',
    async verb => {
      const { change, read } = await aToken()
      isEnding = true
      expect(await change(verb)).toMatchObject({ status: 500 })
      isEnding = false
      expect((await read()).processorProblem).toMatch(/has not been notified/)
      expect(await change(verb)).toMatchObject({ status: 200, body: { processorProblem: null } })
      expect(told).toHaveLength(1)
    },
  )

  test.each<[number, string, ProcessorFailure]>([
    [504, 'processor_silent', LATE],
    [502, 'processor_unusable', { failure: 'unusable' }],
    [502, 'processor_refused', { failure: 'refused', code: 'gone', message: 'It is gone.' }],
  ])('stays suspended where the processor does not resume it: %s %s', async (status, code, answer) => {
    const { change, read } = await aToken()
    await bodyOf(change('suspend'))
    failure = answer
    expect(await change('resume')).toMatchObject({ status, code })
    expect((await read()).status).toBe('suspended')
  })

  test('that was suspended is not resumed by its agent', async () => {
    const { change, agentClient, agent, client, card, filler, pair, owner, intent } = await aToken()
    const asAgent = { client: agentClient, agent, card, filler, pair, owner, intent, agentClient }
    expect((await change('suspend', asAgent)).status).toBe(200)
    expect((await change('resume', asAgent)).status).toBe(403)
    expect((await change('resume', { ...asAgent, client })).status).toBe(200)
  })

  test('expires by the owner’s clock', async () => {
    const { client, change, read } = await aToken()
    await advance(client, { seconds: 3_601 })
    expect((await read()).status).toBe('expired')
    expect(await change('suspend')).toMatchObject({ status: 400, code: 'agent_credential_over' })
    const { data } = await bodyOf(client.events.list({ query: { event: 'agent_credential.expired' } }))
    expect(data).toHaveLength(1)
  })

  test('a network token that the processor refuses is recorded as failed and pays nothing', async () => {
    const shopper = await aShopper(service)
    failure = LATE
    const refusal = await issue(shopper.client, asked(shopper))
    expect(refusal).toMatchObject({ status: 504, code: 'processor_silent' })
    expect((await traceOf(service, refusal))?.events).toContain('agent_credential.failed')
    const { data } = await bodyOf(shopper.client.agentCredentials.list({ query: {} }))
    expect(data).toMatchObject([{ status: 'failed', last4: null }])
    expect(await lastAsk(shopper.client)).toMatchObject({ decision: 'granted', outcome: 'failed' })
  })
})
