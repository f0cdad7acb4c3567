import { AGENTS, fillAgents } from './database/intent-rows.ts'
import { type Section, wholeNumber } from './report.ts'
import { bearer, onStage, post, type Stage, withClient } from './stage.ts'

const DECISIONS = 100_000
const ROUNDS = 3

const rules = {
  name: 'As it was',
  maxTransactionEuros: 50,
  dailyLimitEuros: 500,
  monthlyLimitEuros: 5_000,
  autoApproveLimitEuros: 50,
  merchantBlocklist: ['Casino'],
  allowedCountries: ['DE'],
  allowedMccs: ['5942'],
  activeHoursStart: 0,
  activeHoursEnd: 0,
  amountTolerancePercent: 5,
  maxUsageCount: 1_000_000,
}

/** Copies one decision with its reservation for all agents in turn, a second apart. */
const COPIES = `
with copies as (
  insert into decisions
  select 'decision_bench_' || lpad(n::text, 9, '0'), owner_id, mode, created_at + n * interval '1 second', updated_at,
    'agent_bench_' || n % ${AGENTS} + 1, subject_type, 'intent_bench_' || n, policy_id, policy_version, request,
    counters, result
  from decisions, generate_series(1, $1::int) as n returning owner_id, mode, subject_type, subject_id, agent_id
)
insert into reservations (owner_id, mode, cause_type, cause_id, subjects, day, amount_cents, reserved_cents, spent_cents)
select owner_id, mode, subject_type, subject_id, array[agent_id], current_date, 2625, 0, 2500 from copies`

async function fill(stage: Stage): Promise<void> {
  await fillAgents(stage)
  const owner = bearer(stage)
  const agentId = 'agent_bench_1'
  const { id: policyId } = await post(stage.api, '/policies', rules, owner)
  const assigned = await fetch(`${stage.api.url}/policies/agent/${agentId}`, {
    method: 'PUT',
    body: JSON.stringify({ policyId }),
    headers: { ...owner, 'content-type': 'application/json' },
  })
  if (!assigned.ok) throw new Error(await assigned.text())
  const members = { merchant: 'Bookshop', purpose: 'A book', mcc: '5942', country: 'DE' }
  await post(stage.api, '/intents', { ...members, agentId, amountEuros: 25 }, owner)
  await withClient(stage, client => client.query(COPIES, [DECISIONS]))
}

export const measureBacktests = (folder: string): Promise<Section> =>
  onStage(folder, 'backtests', async stage => {
    await fill(stage)
    const other = { ...rules, name: 'As it might be', dailyLimitEuros: 400, autoApproveLimitEuros: 20 }
    const { id } = await post(stage.api, '/policies', other, bearer(stage))
    const span = { from: '2000-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z' }
    let seconds = Number.POSITIVE_INFINITY
    let decisions = 0
    const memoryBefore = stage.api.memoryMegabytes()
    for (let round = 0; round < ROUNDS; round++) {
      const began = performance.now()
      const answer = await post(stage.api, `/policies/${id}/backtest`, span, bearer(stage))
      seconds = Math.min(seconds, (performance.now() - began) / 1_000)
      decisions = Number(answer.decisions)
    }
    const memoryAfter = stage.api.memoryMegabytes()
    return {
      figures: { backtest: { decisions, seconds, memoryBefore, memoryAfter } },
      text: `${wholeNumber(decisions)} decisions replayed in ${seconds.toFixed(1)} s, memory ${wholeNumber(memoryBefore)} MB, after it ${wholeNumber(memoryAfter)} MB`,
    }
  })
