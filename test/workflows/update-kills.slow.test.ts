import { describe, expect, test } from '@jest/globals'
import {
  type WorkflowHandle,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client'
import type { UpdateAnswer } from '../../src/kernel/contract/process.ts'
import { aFundedAgent, anIntent } from '../support/factories.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { startPrograms } from '../support/temporal/who-acts/programs.ts'
import { until } from '../support/until.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

/** `UPDATE_KILLS=50 UPDATES=1000` is the long form. */
const KILLS = Number(process.env.UPDATE_KILLS || 3)
const UPDATES = Number(process.env.UPDATES || 60)
const AT_ONCE = 40
/** Each kill holds up what was at work by the time of an activity. */
const TEST_MS = 120_000 + KILLS * 60_000

const VERBS = ['approve', 'cancel'] as const
const STATUSES = { approve: 'approved', cancel: 'cancelled' }

const { installation, owner, sql } = await startPrograms()
const temporal = await runViewer(installation.temporal.address)

/** As a program does that wants its answer: it asks again by the same id for as long as no answer comes. */
async function answerOf(run: WorkflowHandle, verb: string): Promise<UpdateAnswer> {
  for (;;)
    try {
      return await run.executeUpdate<UpdateAnswer, [unknown]>(verb, {
        args: [{ by: 'Ada' }],
        updateId: `${verb}, once`,
      })
    } catch (error) {
      if (!(error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)) throw error
    }
}

const EVENTS = `
select data ->> 'intentId' as id, array_agg(event order by id) as events from events
where event like 'intent.%' group by 1`

describe('updates of intents whose worker is killed again and again', () => {
  test(
    'are each answered, and carried out once',
    async () => {
      const { client } = await owner()
      const agent = await aFundedAgent(client)
      const answers: UpdateAnswer[] = []
      const ids: string[] = []
      let begun = 0

      async function approvedAndCancelled(): Promise<void> {
        const { id } = await anIntent(client, agent.id, { amountEuros: 1 })
        ids.push(id)
        const run = temporal.of({ workflowId: `intent/${id}` })
        await run.untilBegun()
        for (const verb of VERBS) answers.push(await answerOf(run.handle, verb))
      }

      async function goOn(): Promise<void> {
        while (begun++ < UPDATES / VERBS.length) await approvedAndCancelled()
      }

      async function killTheWorker(): Promise<number> {
        let kills = 0
        for (; kills < KILLS; kills++) {
          const next = (UPDATES / (KILLS + 1)) * (kills + 1)
          await until(`${next} updates are answered`, () => answers.length >= next, TEST_MS)
          await installation.kill('worker')
          await installation.startMissing()
        }
        return kills
      }

      const [kills] = await Promise.all([killTheWorker(), ...Array.from({ length: AT_ONCE }, goOn)])
      expect(kills).toBe(KILLS)
      expect(answers).toHaveLength(ids.length * VERBS.length)
      for (const verb of VERBS) {
        const answer = { status: STATUSES[verb], line: `Update ${verb} by Ada: done.` }
        const expected = Array.from(ids, () => answer)
        expect(answers.filter(({ line }) => line === answer.line)).toEqual(expected)
      }
      const events = await sql<{ id: string; events: string[] }>(EVENTS)
      const story = ['intent.created', 'intent.approved', 'intent.cancelled']
      expect(Object.fromEntries(events.map(row => [row.id, row.events]))).toEqual(
        Object.fromEntries(ids.map(id => [id, story])),
      )
      for (const id of ids)
        expect(await temporal.of({ workflowId: `intent/${id}` }).untilEnded()).toBe('cancelled')
      await expectVerifiedLedger(client)
    },
    TEST_MS,
  )
})

describe('an update without a worker', () => {
  test('waits for one, and is carried out once', async () => {
    const { client } = await owner()
    const agent = await aFundedAgent(client)
    const intent = await anIntent(client, agent.id)
    const run = temporal.of(intent)
    await run.untilDetails('waits for approval')
    await installation.kill('worker')
    const answer = answerOf(run.handle, 'cancel')
    await installation.startMissing()
    expect(await answer).toEqual({ status: 'cancelled', line: 'Update cancel by Ada: done.' })
    expect(await run.untilEnded()).toBe('cancelled')
    await expect(answerOf(run.handle, 'approve')).rejects.toThrow(WorkflowNotFoundError)
  })
})
