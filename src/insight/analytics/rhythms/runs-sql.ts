import { MOST_TIMES_DEARER, RHYTHMS } from './rhythm.ts'

const names = Object.keys(RHYTHMS) as (keyof typeof RHYTHMS)[]

const isWithin = (apart: string, every: keyof typeof RHYTHMS): string =>
  `${apart} between ${RHYTHMS[every].least} and ${RHYTHMS[every].most}`

/** SQL: whether two payments may follow each other in some rhythm. */
export const mayFollow = (apart: string): string => names.map(every => isWithin(apart, every)).join(' or ')

const EVERY = `case
    when spent > before_spent * ${MOST_TIMES_DEARER} or before_spent > spent * ${MOST_TIMES_DEARER} then null
    ${names.map(every => `when ${isWithin('day - before_day', every)} then '${every}'`).join(' ')} end`

const LONG_ENOUGH = names.map(every => `when '${every}' then ${RHYTHMS[every].times - 1}`).join(' ')

/** From so long ago on payments are looked at: a monthly rhythm needs more than a year to be seen changing. */
export const RHYTHM_DAYS = 400

/**
 * SQL: the CTE `runs` of the CTE `paid (agent_id, value, day, payments, spent)`, which has the days on which an agent has paid a
 * merchant. A run is as many charges that follow each other by the same rhythm as make one. Where one was made several times
 * on a day, each as dear as the one before, it is one: the others were a mistake.
 */
export const RUNS = `
spaced as (
  select *, lag(day) over one as before_day, lag(spent) over one as before_spent, lead(day) over one as after_day
  from paid window one as (partition by agent_id, value order by day)
),
followed as (
  select agent_id, value, day, before_day, before_spent, after_day, ${EVERY} as every,
    case when payments > 1 and spent = payments * before_spent then before_spent else spent end as spent
  from spaced
),
-- Days that follow each other by the same rhythm have the same number.
numbered as (
  select *, row_number() over (partition by agent_id, value order by day)
    - row_number() over (partition by agent_id, value, every order by day) as number
  from followed
),
runs as (
  select agent_id, value, every, min(before_day) || array_agg(day order by day) as days,
    (array_agg(before_spent order by day))[1] || array_agg(spent order by day) as cents,
    (array_agg(after_day order by day desc))[1] as broken_on
  from numbered where every is not null group by agent_id, value, every, number
  having count(*) >= case every ${LONG_ENOUGH} end
)`
