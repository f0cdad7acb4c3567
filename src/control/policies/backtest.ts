import type { z } from 'zod'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { clock } from '../../values/clock.ts'
import type { Euros } from '../../values/money.ts'
import { findAgent } from '../agents/index.ts'
import { type Recorded, recordedIn, type Span } from '../decisions/index.ts'
import { type Compiled, compile, isStricter, type Ruling, rulesOf } from '../rules/index.ts'
import { Drift, type Replayed } from './decision-diff.ts'
import { findPolicy } from './policy-versioning.ts'
import type { whatIfApi } from './simulation-api.ts'

type Handler = HandlerOf<typeof whatIfApi.backtest>
type Example = z.output<(typeof whatIfApi.backtest)['returns'][1]>['examples'][number]

interface Sum {
  count: number
  amountEuros: Euros
}

const nothing = (): Sum => ({ count: 0, amountEuros: 0n })
const nothingNew = () => ({ newlyDenied: nothing(), newlyAllowed: nothing(), newlyToPerson: nothing() })

const kinds = { denied: 'newlyDenied', allowed: 'newlyAllowed', person: 'newlyToPerson' } as const

const EXAMPLES = 100

/** So long one answer may take: a hundred thousand decisions take a few seconds. */
const TIME = 30_000

/** The rule that makes the difference: it is against it now, or was against it then. */
const ruleBehind = ({ rule }: Recorded, { was, now }: Replayed, { checks, reason }: Ruling): string =>
  (isStricter(now, was) ? checks.find(({ message }) => message === reason)?.rule : rule) ?? 'unknown'

/** What differs, counted as it is found; of itself only the first examples are kept. */
class Findings {
  decisions = 0
  readonly sums = { same: nothing(), decidedBefore: nothing(), ...nothingNew() }
  readonly rules = new Map<string, ReturnType<typeof nothingNew>>()
  readonly examples: Example[] = []

  note(one: Recorded, replayed: Replayed): void {
    const { was, now, ruling } = replayed
    this.decisions++
    if (ruling && now !== was) this.#differs(one, replayed, ruling)
    else add(ruling ? this.sums.same : this.sums.decidedBefore, BigInt(one.request.amountEuros))
  }

  #differs(one: Recorded, replayed: Replayed, ruling: Ruling): void {
    const { was, now } = replayed
    const amountEuros = BigInt(one.request.amountEuros)
    const rule = ruleBehind(one, replayed, ruling)
    add(this.sums[kinds[now]], amountEuros)
    add(this.#of(rule)[kinds[now]], amountEuros)
    if (this.examples.length < EXAMPLES) this.examples.push(exampleOf(one, { was, now, rule }, ruling))
  }

  #of(rule: string): ReturnType<typeof nothingNew> {
    const known = this.rules.get(rule) ?? nothingNew()
    this.rules.set(rule, known)
    return known
  }
}

function add(sum: Sum, amountEuros: Euros): void {
  sum.count++
  sum.amountEuros += amountEuros
}

const exampleOf = (
  { id: decisionId, agentId, subjectType, subjectId, at, request, reason: wasReason }: Recorded,
  found: Pick<Example, 'was' | 'now' | 'rule'>,
  { reason }: Ruling,
): Example => ({
  decisionId,
  agentId,
  subjectType,
  subjectId,
  at,
  ...found,
  wasReason,
  reason,
  amountEuros: BigInt(request.amountEuros),
  merchant: request.merchant,
})

/** All that was decided in a span, decided anew; nothing where that takes too long. */
export async function replayAll(
  sql: Sql,
  tenant: Tenant,
  span: Span,
  policy: Compiled,
  time = TIME,
): Promise<Findings | undefined> {
  const end = clock.ticks() + time
  const findings = new Findings()
  let [agentId, drift] = ['', new Drift(policy)]
  for await (const page of recordedIn(sql, tenant, span)) {
    for (const one of page) {
      if (one.agentId !== agentId) [agentId, drift] = [one.agentId, new Drift(policy)]
      findings.note(one, drift.replay(one))
    }
    if (clock.ticks() > end) return undefined
  }
  return findings
}

export const backtest: Handler = async ({ params, body }, { em, sql, tenant, refuse }) => {
  const policy = await findPolicy(em, params.id)
  if (!policy) return refuse('policy_not_found')
  const { agentId = null, ...span } = body
  if (agentId && !(await findAgent(em, agentId))) return refuse('agent_not_found')
  const found = await replayAll(sql, tenant, body, compile(rulesOf(policy)))
  if (!found) return refuse('backtest_too_long')
  const { decisions, sums, rules, examples } = found
  const byRule = [...rules].map(([rule, counted]) => ({ rule, ...counted }))
  return {
    policyId: policy.id,
    version: policy.version,
    ...span,
    agentId,
    decisions,
    ...sums,
    byRule,
    examples,
  }
}
