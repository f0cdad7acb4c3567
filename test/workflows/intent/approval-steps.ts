import { describe, expect, test } from '@jest/globals'
import { formatMinute } from '../../../src/values/minute.ts'
import { rowOf, whileLocked } from '../../support/at-once.ts'
import { signatureOver } from '../../support/control/approvals.ts'
import { anAgentUnder, anIntent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { type Enrolled, enrolled } from '../../support/identity/people.ts'
import { runViewer } from '../../support/temporal/runs.ts'
import { until } from '../../support/until.ts'

const service = await startTestService({ temporal: true })
const temporal = await runViewer()

const HOURS = 60

/** Two of three must approve within six hours; then the owner, who is one of them, is asked as well. */
async function aTeam() {
  const owner = await service.owner()
  const boss = await enrolled(service, owner)
  const approvers = [await enrolled(service, owner, { role: 'approver', by: boss })]
  approvers.push(await enrolled(service, owner, { role: 'approver', by: boss }))
  const agent = await anAgentUnder(owner.client, {
    approval: [
      { aboveEuros: 0, of: 'approvers', need: 2, withinMinutes: 6 * HOURS, then: 'next' },
      { aboveEuros: 1_000, of: 'owners', need: 1, withinMinutes: 2 * HOURS, then: 'deny' },
    ],
  })
  const { client } = owner
  const intent = await anIntent(client, agent.id)
  const run = temporal.of(intent)
  const approve = async (person: Enrolled) =>
    bodyOf(
      client.intents.approve({
        params: { id: intent.id },
        body: { webauthnAssertion: await signatureOver(client, intent.id, person) },
      }),
    )
  const eventsOf = async () => {
    const text = `select event from events where data ->> 'intentId' = $1 order by id`
    return (await service.sql<{ event: string }>(text, [intent.id])).map(({ event }) => event)
  }
  const pass = (minutes: number) => bodyOf(client.sandbox.advance({ body: { minutes } }))
  const happens = (event: string) => until(event, async () => (await eventsOf()).includes(event))
  return { client, boss, approvers, intent, run, approve, eventsOf, happens, pass }
}

describe('an intent whose policy asks several people', () => {
  test('shows how many have approved, who is asked until when, and which signals count', async () => {
    const { intent, run, approvers, approve } = await aTeam()
    const ends = formatMinute(new Date(String(intent.approval?.endsAt)))
    await run.untilDetails(`for approvals: 0 of 2, approvers until ${ends}, then the next step`)
    expect(await run.state()).toMatchObject({ signals: ['deny', 'cancel'], next: 'remind' })
    await approve(approvers[0] as Enrolled)
    await run.untilDetails(`for approvals: 1 of 2, approvers until ${ends}, then the next step`)
    await run.signal('approve', { by: 'Ada' })
    await run.untilDetails('The signal approve by Ada changed nothing')
    await approve(approvers[1] as Enrolled)
    await run.untilDetails('for its payment')
    await run.signal('cancel', { by: 'Ada' })
    expect(await run.untilEnded()).toBe('cancelled')
    expect(await run.timerSummaries()).toContain(
      `for approvals: 1 of 2, approvers until ${ends}, then the next step`,
    )
  })

  test('keeps at once what stricter steps of the policy accept, and asks for the rest', async () => {
    const { client, intent, run, approvers, approve, happens } = await aTeam()
    await approve(approvers[0] as Enrolled)
    await run.untilDetails('for approvals: 1 of 2')
    const params = { agentId: intent.agentId }
    const { id, name, approval = [] } = await bodyOf(client.policies.effective({ params }))
    const stricter = approval.map(step => ({ ...step, aboveEuros: 0 }))
    await bodyOf(client.policies.replace({ params: { id }, body: { name, approval: stricter } }))
    await run.untilDetails('for approvals: 1 of 3')
    await happens('intent.approval_reminder')
    const { personId } = approvers[0] as Enrolled
    expect(await bodyOf(client.intents.get({ params: intent }))).toMatchObject({
      status: 'created',
      approval: { given: 1, needed: 3, approvals: [{ personId }] },
    })
    expect(
      await service.sql('select from recorded_approvals where intent_id = $1', [intent.id]),
    ).toHaveLength(1)
  })

  test('is reminded, passed on to the next people and denied by its run, as the clock of the account says', async () => {
    const { run, happens, eventsOf, pass } = await aTeam()
    await run.untilDetails('for approvals')
    await pass(3 * HOURS + 1)
    await happens('intent.approval_reminder')
    await pass(3 * HOURS)
    await happens('intent.approval_escalated')
    await run.untilDetails('0 of 2, approvers and owners until')
    await pass(2 * HOURS + 1)
    expect(await run.untilEnded()).toBe('denied')
    const counts = Object.groupBy(await eventsOf(), event => event)
    expect(counts['intent.approval_escalated']).toHaveLength(1)
    expect(counts['intent.denied']).toHaveLength(1)
  })

  test('is denied by the signal of an operator, and at once where too few people are left', async () => {
    const { run } = await aTeam()
    await run.untilDetails('for approvals')
    await run.signal('deny', { by: 'Ada', reason: 'Too expensive' })
    expect(await run.untilEnded()).toBe('denied')
    const { client, approvers, run: other, approve } = await aTeam()
    await approve(approvers[0] as Enrolled)
    await other.untilDetails('for approvals: 1 of 2')
    for (const { personId } of approvers) await bodyOf(client.people.remove({ params: { id: personId } }))
    expect(await other.untilEnded()).toBe('denied')
  })

  test('waits as before where a person leaves and enough remain: its run leaves nothing to the sweep', async () => {
    const { client, approvers, intent, run } = await aTeam()
    await run.untilDetails('for approvals')
    const dueIn = async () => {
      const [row] = await service.sql<{ minutes: number }>(
        `select (extract(epoch from approval_due_at - now()) / 60)::float8 as minutes from intents where id = $1`,
        [intent.id],
      )
      return row?.minutes ?? 0
    }
    expect(await dueIn()).toBeGreaterThan(2 * HOURS)
    const [leaving] = approvers
    await bodyOf(client.people.remove({ params: { id: String(leaving?.personId) } }))
    await until('its reminder is due again', async () => (await dueIn()) > 2 * HOURS)
    expect(await run.activityNames()).toEqual(['endApprovalStep'])
    expect((await bodyOf(client.intents.get({ params: intent }))).status).toBe('created')
  })

  test('is denied, too, where people leave while another transaction holds it', async () => {
    const { client, approvers, intent, run } = await aTeam()
    await run.untilDetails('for approvals')
    await whileLocked(service, rowOf('intents', intent.id), async () => {
      for (const { personId } of approvers) await bodyOf(client.people.remove({ params: { id: personId } }))
    })
    expect(await run.untilEnded()).toBe('denied')
  })
})
