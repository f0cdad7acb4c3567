import type { z } from 'zod'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { clock } from '../../values/clock.ts'
import { addCents, type Cents, cents, NO_CENTS } from '../../values/money.ts'
import { findAgent } from '../agents/index.ts'
import { type DecisionSpan, type RecordedDecision, streamRecordedDecisions } from '../decisions/index.ts'
import {
  type CompiledPolicy,
  compilePolicy,
  isStricterVerdict,
  pickPolicyRules,
  type SpendRuling,
} from '../rules/index.ts'
import { DecisionReplay, type ReplayedDecision } from './decision-diff.ts'
import { findPolicy } from './policy-versioning.ts'
import type { policySimulationApi } from './simulation-api.ts'

type Handler = HandlerOf<typeof policySimulationApi.backtest>
type Example = z.output<(typeof policySimulationApi.backtest)['returns'][1]>['examples'][number]

interface Total {
  count: number
  amountCents: Cents
}

const zero = (): Total => ({ count: 0, amountCents: NO_CENTS })
const noDifferences = () => ({ newlyDenied: zero(), newlyAllowed: zero(), newlyToPerson: zero() })

const differenceNames = { denied: 'newlyDenied', allowed: 'newlyAllowed', person: 'newlyToPerson' } as const

const MAX_EXAMPLES = 100

/** Bounds the time of one answer. A hundred thousand decisions take a few seconds. */
const TIME_LIMIT_MS = 30_000

const decidingRule = (
  { rule }: RecordedDecision,
  { was, now }: ReplayedDecision,
  { checks, reason }: SpendRuling,
): string =>
  (isStricterVerdict(now, was) ? checks.find(({ message }) => message === reason)?.rule : rule) ?? 'unknown'

class Report {
  decisions = 0
  readonly totals = { same: zero(), decidedBefore: zero(), ...noDifferences() }
  readonly byRule = new Map<string, ReturnType<typeof noDifferences>>()
  readonly examples: Example[] = []

  add(recorded: RecordedDecision, replayed: ReplayedDecision): void {
    const { was, now, ruling } = replayed
    this.decisions++
    if (ruling && now !== was) this.#addDifference(recorded, replayed, ruling)
    else addTo(ruling ? this.totals.same : this.totals.decidedBefore, cents(recorded.request.amountEuros))
  }

  #addDifference(recorded: RecordedDecision, replayed: ReplayedDecision, ruling: SpendRuling): void {
    const { was, now } = replayed
    const amountCents = cents(recorded.request.amountEuros)
    const rule = decidingRule(recorded, replayed, ruling)
    const ruleTotals = this.byRule.get(rule) ?? noDifferences()
    this.byRule.set(rule, ruleTotals)
    addTo(this.totals[differenceNames[now]], amountCents)
    addTo(ruleTotals[differenceNames[now]], amountCents)
    if (this.examples.length === MAX_EXAMPLES) return
    this.examples.push({
      decisionId: recorded.id,
      agentId: recorded.agentId,
      subjectType: recorded.subjectType,
      subjectId: recorded.subjectId,
      at: recorded.at,
      amountCents,
      merchant: recorded.request.merchant,
      was,
      now,
      rule,
      wasReason: recorded.reason,
      reason: ruling.reason,
    })
  }
}

function addTo(total: Total, amountCents: Cents): void {
  total.count++
  total.amountCents = addCents(total.amountCents, amountCents)
}

export async function replayDecisions(
  sql: Sql,
  tenant: Tenant,
  span: DecisionSpan,
  policy: CompiledPolicy,
  timeLimitMs = TIME_LIMIT_MS,
): Promise<Report | undefined> {
  const deadline = clock.ticks() + timeLimitMs
  const report = new Report()
  let agentId = ''
  let diff = new DecisionReplay(policy)
  for await (const page of streamRecordedDecisions(sql, tenant, span)) {
    for (const recorded of page) {
      if (recorded.agentId !== agentId) {
        agentId = recorded.agentId
        diff = new DecisionReplay(policy)
      }
      report.add(recorded, diff.replay(recorded))
    }
    if (clock.ticks() > deadline) return undefined
  }
  return report
}

export const backtestPolicy: Handler = async ({ params, body }, { em, sql, tenant, refuse }) => {
  const policy = await findPolicy(em, params.id)
  if (!policy) return refuse('policy_not_found')
  const { agentId = null, ...span } = body
  if (agentId && !(await findAgent(em, agentId))) return refuse('agent_not_found')
  const report = await replayDecisions(sql, tenant, body, compilePolicy(pickPolicyRules(policy)))
  if (!report) return refuse('backtest_too_long')
  return {
    policyId: policy.id,
    version: policy.version,
    ...span,
    agentId,
    decisions: report.decisions,
    ...report.totals,
    byRule: [...report.byRule].map(([rule, totals]) => ({ rule, ...totals })),
    examples: report.examples,
  }
}
