import { decisionOfRecordSql } from '../../control/decisions/index.ts'
import { merchantNameOfDescriptor, normalizeMerchant } from '../../control/merchants/index.ts'
import { runInSlices, type SlicedWork } from '../../kernel/contract/time-slices.ts'
import { memoizeBounded } from '../../values/bounded-cache.ts'
import { eventsWithinBoundsSql, withinBoundsSql } from './position.ts'

export const merchantOfSpend = memoizeBounded((text: string): string =>
  normalizeMerchant(merchantNameOfDescriptor(text)),
)

function* resolved(texts: readonly string[]): SlicedWork<string[]> {
  const merchants: string[] = []
  for (const text of texts) {
    merchants.push(merchantOfSpend(text))
    yield
  }
  return merchants
}

/** Works in slices, since a hundred thousand texts take seconds and would block other requests. */
export const merchantsOfSpends = (texts: readonly string[]): Promise<string[]> => runInSlices(resolved(texts))

/**
 * SQL for the change of the sums by what was written between two positions of the journal. The follower adds
 * it to the sums; a report reads it beside them, so that reports are up to date. Both use the same text, so
 * they cannot differ.
 */

/**
 * The kind as which a transaction in this status counts; null if it does not. Its money has left from
 * `settlement` on.
 */
const KIND = `
case when t.type = 'collect' then null
  when t.status in ('settlement', 'settled', 'completed', 'refunded')
    then case when t.type = 'refund' then 'came_back' else 'spent' end
  when t.status = 'declined' and (declined.decision ->> 'allowed') = 'false' then 'kept_back' end`

const ruleOf = (decision: string): string =>
  `coalesce(jsonb_path_query_first((${decision}), '$.checks[*] ? (@.message == $.reason)') ->> 'rule', 'other')`

/** The changed transactions: as they are in the sums, as they should be, and whether these differ. */
const states = (owners: string): string => `
noted as materialized (${eventsWithinBoundsSql(owners, `event like 'transaction.%' or event in ('intent.completed', 'intent.denied', 'intent.expired')`)}
),
states as materialized (
  select t.owner_id, t.mode, t.id, (t.created_at at time zone 'UTC')::date as day, coalesce(t.agent_id, '') as agent_id,
    coalesce(t.run_id, '') as run_id, t.merchant as name, coalesce(t.mcc, '') as mcc, t.wallet_id, t.type, t.intent_id,
    ${KIND} as kind, t.amount_cents as cents, 'declined ' || ${ruleOf(decisionOfRecordSql('declined'))} as rule,
    c.transaction_id is not null as is_known, c.merchant, c.kind as counted_kind, c.cents as counted_cents, c.type as counted_type,
    c.intent_id as counted_intent_id, c.rule as counted_rule,
    (c.kind, c.cents, c.type, c.intent_id) is distinct from (${KIND}, t.amount_cents, t.type, t.intent_id) as is_changed
  from (select distinct owner_id, mode, resource_id from noted where event like 'transaction.%') as changed
  cross join lateral (
    select * from transactions one
    where (one.owner_id, one.mode, one.id) = (changed.owner_id, changed.mode, changed.resource_id) limit 1
  ) as t
  left join lateral (
    select * from spend_counted one where (one.owner_id, one.mode, one.transaction_id) = (t.owner_id, t.mode, t.id) limit 1
  ) as c on true
  left join lateral (
    select * from card_authorizations one where t.status = 'declined' and one.decline_reason is not null
      and (one.owner_id, one.mode, one.transaction_id) = (t.owner_id, t.mode, t.id) limit 1
  ) as declined on true
)`

/** A refund counts on the day on which it arrives, independent of the day of the payment. */
const REFUNDS = `
select t.owner_id, t.mode, (r.at at time zone 'UTC')::date, coalesce(t.agent_id, ''), coalesce(t.run_id, ''),
  t.merchant, c.merchant, coalesce(t.mcc, ''), t.wallet_id, t.type, t.intent_id, 'came_back', '', 0, r.cents
from returned r
cross join lateral (
  select * from transactions one where (one.owner_id, one.mode, one.id) = (r.owner_id, r.mode, r.transaction_id) limit 1
) as t
left join lateral (
  select * from spend_counted one where (one.owner_id, one.mode, one.transaction_id) = (t.owner_id, t.mode, t.id) limit 1
) as c on true
where t.type <> 'collect'`

const KEPT_BACK = `
select i.owner_id, i.mode, (n.created_at at time zone 'UTC')::date, i.agent_id, '', i.merchant, null, '', '', '', null, 'kept_back',
  case when n.event = 'intent.expired' then 'expired' when i.decided_by ->> 'type' = 'policy' then 'denied'
    else 'turned_down' end || ' ' || ${ruleOf(decisionOfRecordSql('i'))}, 1, i.amount_cents
from noted n
cross join lateral (
  select * from intents one where (one.owner_id, one.mode, one.id) = (n.owner_id, n.mode, n.resource_id) limit 1
) as i
where n.event in ('intent.denied', 'intent.expired') and (n.event = 'intent.denied' or i.decided_at is null)`

/** Long values of metadata are shortened with a digest, since an index does not accept long texts. */
export const shortLabelSql = (text: string): string =>
  `case when length(${text}) > 150 then left(${text}, 100) || '… ' || md5(${text}) else ${text} end`

/** Completed intents, on the day of their declaration: these can have an outcome. */
const COMPLETED = `
select i.owner_id, i.mode, (i.created_at at time zone 'UTC')::date, i.agent_id, coalesce(i.run_id, ''), i.merchant, null,
  coalesce(i.mcc, ''), '', '', i.id, 'completed', '', 1, 0
from noted n
cross join lateral (
  select * from intents one where (one.owner_id, one.mode, one.id) = (n.owner_id, n.mode, n.resource_id) limit 1
) as i
where n.event = 'intent.completed'`

const MERCHANT = 'coalesce(d.known, d.name), d.known'

const LABELS = `
union all
select case d.kind when 'completed' then 'completed:' else '' end || 'label:' || label.key, d.run_id,
  ${shortLabelSql('label.value')}, false
from intents i, jsonb_each_text(i.metadata) as label
where d.kind <> 'kept_back' and d.intent_id is not null and (i.owner_id, i.mode, i.id) = (d.owner_id, d.mode, d.intent_id)`

/** Each payment once in each view. `is_raw` marks names that were never counted, which are not resolved yet. */
const VIEWS = `
select 'kept_back' as view, '' as run_id, d.rule as value, false as is_raw where d.kind = 'kept_back'
union all
select 'refused:merchant', '', ${MERCHANT} is null
where d.kind = 'kept_back' and d.name <> '' and d.rule not like 'expired %'
union all
select one.* from (values ('agent', '', '', false), ('mcc', '', d.mcc, false), ('wallet', '', d.wallet_id, false),
  ('type', '', d.type, false), ('run', d.run_id, '', false), ('merchant', '', ${MERCHANT} is null)) as one
where d.kind in ('spent', 'came_back')
union all
select one.* from (values ('completed:agent', '', '', false), ('completed:mcc', '', d.mcc, false),
  ('completed:run', d.run_id, '', false), ('completed:merchant', '', ${MERCHANT} is null)) as one
where d.kind = 'completed'`

const NOW_AND_BEFORE = `
select s.owner_id, s.mode, s.day, s.agent_id, s.run_id, s.name, s.merchant, s.mcc, s.wallet_id, s.type, s.intent_id, s.kind,
  s.rule, case when s.kind = 'came_back' then 0 else 1 end, s.cents
from states s where is_changed and s.kind is not null
union all
select s.owner_id, s.mode, s.day, s.agent_id, s.run_id, s.name, s.merchant, s.mcc, s.wallet_id, s.counted_type,
  s.counted_intent_id, s.counted_kind, s.counted_rule, case when s.counted_kind = 'came_back' then 0 else -1 end,
  -s.counted_cents
from states s where is_changed and s.counted_kind is not null`

/** Which facts of intents are counted. Each of them needs a look-up of every intent. */
export interface CountedIntentFacts {
  readonly keptBack: boolean
  readonly completed: boolean
  readonly labels: boolean
}

const EVERYTHING: CountedIntentFacts = { keptBack: true, completed: true, labels: true }

/**
 * CTEs after `bounds`, see `position.ts`: `states` has the changed transactions, `changes` a row for each
 * change of a cell. `owners` is a condition that ends in `and`, or empty for all; `merchantOf` is the SQL for
 * the merchant of a text. A report looks up only the intents that it lists.
 */
export const spendDeltasSql = (
  owners: (alias: 'e' | 'r') => string,
  { keptBack, completed, labels }: CountedIntentFacts = EVERYTHING,
  merchantOf: (name: string) => string = () => 'null::text',
): string => `
${states(owners('e'))},
returned as materialized (
  select r.* from transaction_refunds r where ${owners('r')} ${withinBoundsSql('r', 'refund')}
),
deltas (owner_id, mode, day, agent_id, run_id, name, merchant, mcc, wallet_id, type, intent_id, kind, rule, payments,
  cents) as (${NOW_AND_BEFORE} union all ${REFUNDS} ${keptBack ? `union all ${KEPT_BACK}` : ''}
  ${completed ? `union all ${COMPLETED}` : ''}),
changes as (
  select d.owner_id, d.mode, v.view, d.day, d.agent_id, v.run_id, v.value, v.is_raw, d.payments,
    case d.kind when 'came_back' then 0 else d.cents end as spent_cents,
    case d.kind when 'came_back' then d.cents else 0 end as refunded_cents,
    case when d.kind = 'spent' and d.type = 'fee' then d.cents else 0 end as fee_cents
  from (select deltas.*, coalesce(merchant, ${merchantOf('name')}) as known from deltas) as d
  cross join lateral (${VIEWS} ${labels ? LABELS : ''}) as v
)`
