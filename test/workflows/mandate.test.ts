import { afterAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { repairWorkflowRuns } from '../../src/app/relay-service.ts'
import { areas } from '../../src/areas.ts'
import { mandateProcess } from '../../src/control/mandates/process.ts'
import type { Database } from '../../src/kernel/database/prepared-sql.ts'
import { formatMinute } from '../../src/values/minute.ts'
import { deciderOf, inDays, mandatesIn } from '../support/control/mandates.ts'
import { aWallet, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { temporalOfRun } from '../support/temporal/access.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { until } from '../support/until.ts'

const access = temporalOfRun()
const service = await startTestService({ temporal: access })
const temporal = await runViewer()
const { anOwnerWithAgent, aMandate } = mandatesIn(service, service.url)
const pool = new pg.Pool({ connectionString: service.databaseUrl })
afterAll(() => pool.end())

async function aWatchedMandate(totalEuros = 500) {
  const owner = await anOwnerWithAgent()
  const mandate = await aMandate(owner, { totalEuros }, { expiresAt: inDays(2) })
  const run = temporal.of(mandate)
  await run.untilDetails('for its end')
  const get = () => bodyOf(owner.client.mandates.get({ params: mandate }))
  return { owner, mandate, run, get }
}

describe('the run of a mandate', () => {
  test('shows an operator what it waits for, and its signals', async () => {
    const { owner, mandate, run } = await aWatchedMandate()
    const until = formatMinute(new Date(mandate.expiresAt))
    expect((await run.details()).split('\n\n')).toEqual([
      `Mandate for ${owner.id} in test mode: active, until ${until}`,
      `It waits **for its end, on ${until} at the latest**.`,
      'Send an Update, which is answered, or a Signal: `suspend` or `revoke`, with this payload:',
      '`{"by": "your name", "reason": "why"}`',
    ])
    expect(await run.timerSummaries()).toEqual([`for its end, on ${until} at the latest`])
    expect(await run.attributes()).toMatchObject({ AgentPayAgent: owner.id, AgentPayStatus: 'active' })
    const description = await run.handle.describe()
    expect(await description.staticSummary()).toBe(`Mandate ${mandate.id}, test`)
    expect(await run.about()).toBe(mandateProcess.details)
  })

  test('suspends, resumes and revokes by signals, and approves nothing meanwhile', async () => {
    const { owner, mandate, run, get } = await aWatchedMandate()
    await run.signal('suspend', { by: 'Ada', reason: 'Unusual' })
    await run.untilDetails('for it to be resumed')
    expect(await get()).toMatchObject({
      status: 'suspended',
      suspendedBecause: 'requested',
      comment: 'Unusual',
    })
    expect(deciderOf(await owner.buy(20))).toBe('nobody')
    await bodyOf(owner.client.agents.freeze({ params: owner, body: {} }))
    await run.signal('resume', { by: 'Ada' })
    await run.untilDetails('The signal resume by Ada changed nothing: The agent is frozen or being deleted.')
    await bodyOf(owner.client.agents.unfreeze({ params: owner }))
    await run.signal('resume', { by: 'Ada' })
    await run.untilDetails('for its end')
    expect(deciderOf(await owner.buy(20))).toBe(mandate.id)
    await run.signal('revoke', { by: 'Ada', reason: 'No longer needed' })
    expect(await run.untilEnded()).toBe('revoked')
    expect(await run.failedTasks()).toBe(0)
  })

  test('ends when the owner’s clock has passed its end', async () => {
    const { owner, run, get } = await aWatchedMandate()
    await bodyOf(owner.client.sandbox.advance({ body: { days: 2 } }))
    expect(await run.untilEnded()).toBe('expired')
    expect((await get()).status).toBe('expired')
  })

  test('ends with the payment that uses up the rest', async () => {
    const { owner, run } = await aWatchedMandate(50)
    const { client, agent } = owner
    const shop = await aWallet(client, 0, { name: 'Bookshop' })
    const { id: intentId } = await owner.buy(50, { walletId: shop.id, merchant: undefined })
    const body = { fromWalletId: agent.walletId, toWalletId: shop.id, amountEuros: 50, intentId }
    await bodyOf(client.transfers.create({ body }))
    expect(await run.untilEnded()).toBe('exhausted')
  })

  test('is begun anew where it was terminated, and then ends as ever', async () => {
    const { owner, mandate, run } = await aWatchedMandate()
    const before = (await run.handle.describe()).runId
    await run.handle.terminate('by mistake')
    await until('it runs again', async () => {
      await repairWorkflowRuns({ areas, database: { pool } as Database }, temporal.client, access.taskQueue)
      return (await run.status()) === 'RUNNING' && (await run.handle.describe()).runId !== before
    })
    await run.untilDetails('for its end')
    await bodyOf(owner.client.mandates.revoke({ params: mandate, body: {} }))
    expect(await run.untilEnded()).toBe('revoked')
  })
})
