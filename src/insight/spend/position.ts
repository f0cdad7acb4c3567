/**
 * How far the sums go: all transactions of the journal before `writtenIn`, and of that one the rows up to
 * these ids.
 */
export interface SpendPosition {
  readonly writtenIn: bigint
  readonly eventId: string
  readonly refundId: bigint
}

export const positionBefore = (writtenIn: bigint): SpendPosition => ({ writtenIn, eventId: '', refundId: 0n })

export const SPEND_POSITION_COLUMNS =
  'written_in as "writtenIn", event_id as "eventId", refund_id as "refundId"'

const NAMES = 'since, since_event, since_refund, until, until_event, until_refund'

/**
 * The CTE `bounds` between two positions, which are six parameters from `place` on. All changes of the sums
 * are within it.
 */
export const boundsCteSql = (place: number): string => {
  const types = ['bigint', 'text', 'bigint', 'bigint', 'text', 'bigint']
  return `bounds (${NAMES}) as materialized (select ${types.map((type, n) => `$${place + n}::${type}`).join(', ')})`
}

export const TAIL_BOUNDS_SQL = `
bounds (${NAMES}) as materialized (
  select written_in, event_id, refund_id, 9223372036854775807, '', 0 from spend_position
)`

export const positionParameters = ({ writtenIn, eventId, refundId }: SpendPosition): unknown[] => [
  writtenIn,
  eventId,
  refundId,
]

/** The redundant plain comparisons let PostgreSQL estimate how few rows match. */
export function withinBoundsSql(alias: string, kind: 'event' | 'refund'): string {
  const bound = (name: string): string => `(select ${name} from bounds)`
  const at = `(${alias}.written_in, ${alias}.id)`
  return `${at} > (${bound('since')}, ${bound(`since_${kind}`)}) and ${at} <= (${bound('until')}, ${bound(`until_${kind}`)})
    and ${alias}.written_in >= ${bound('since')} and ${alias}.written_in <= ${bound('until')}`
}

/**
 * SQL: the notes of some events within the bounds. Searches only by the position in the journal: an index by
 * event names would be read as a whole, and grows with every payment.
 */
export const eventsWithinBoundsSql = (owners: string, names: string): string => `
select noted.* from (
  select e.owner_id, e.mode, e.resource_id, e.event, e.created_at from events e where ${owners} ${withinBoundsSql('e', 'event')} offset 0
) as noted where ${names}`
