import type { EntityClass, FilterQuery } from '@mikro-orm/core'
import { clock } from '../../values/clock.ts'
import type { Tenant } from '../contract/actor.ts'
import { type ApiCall, tenantKey } from '../contract/call.ts'
import type { Tally, TallyRow } from '../contract/conditions.ts'
import type { CallOperation, Context, RunForOwner } from '../contract/context.ts'
import type { EventSchemas } from '../contract/events.ts'
import { type AnyOperation, isCsvForm } from '../contract/operation.ts'
import { type PageRequest, type PageRows, type RecordPage, readRecordPage } from '../contract/page.ts'
import { Problem, type Refusal } from '../contract/problem.ts'
import type { DurableProcess, ProcessRecord } from '../contract/process.ts'
import type { RawRequest } from '../contract/raw-request.ts'
import type { Sql } from '../contract/sql.ts'
import { readExclusively, readSnapshot } from '../database/connection.ts'
import { actorReach } from '../database/entity.ts'
import type { TenantEntityManager } from '../database/entity-manager.ts'
import { openEntityManager } from '../database/orm.ts'
import { sqlOn } from '../database/prepared-sql.ts'
import type { EventRow, OutboxRow } from '../journal/journal.ts'
import { buildEvent, buildRefusal, buildWakeUpRow } from '../journal/journal-rows.ts'
import type { JoinedTransaction, OperationRuntime } from './runtime.ts'

/** The promise is awaited later: until then its failure is no unhandled rejection. */
export function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined)
  return promise
}

const isOfTenant = ({ ownerId, mode }: Tenant, tenant: Tenant | null): boolean =>
  tenant?.ownerId === ownerId && tenant.mode === mode

export class RequestContext implements Context {
  readonly events: EventRow[] = []
  readonly outbox: OutboxRow[] = []
  /** Sent by the handler and the reactions, not awaited yet. */
  readonly pendingStatements: Promise<unknown>[] = []
  readonly sql: Sql
  readonly #runtime: OperationRuntime
  readonly #call: ApiCall
  readonly #tx: JoinedTransaction | undefined
  #now: Date | undefined
  #tenant: Tenant | null
  #declared: EventSchemas
  #reactedTo = 0
  /** The sort keys of the rows of the last page: cursors are made of them. */
  #keys: readonly string[] = []
  #em: TenantEntityManager | undefined

  /** A read has no transaction. `now` is undefined for a read that does not declare it. */
  constructor(runtime: OperationRuntime, call: ApiCall, now: Date | undefined, tx?: JoinedTransaction) {
    this.#now = now
    this.#tx = tx
    this.sql = tx?.sql ?? sqlOn(runtime.database.pool)
    this.#runtime = runtime
    this.#call = call
    this.#declared = call.operation.operation.emits
    this.#tenant = call.actor.tenant
  }

  /** Most calls of hot operations need none. */
  get em(): TenantEntityManager {
    if (this.#em) return this.#em
    this.#em = openEntityManager(this.sql, { isReadOnly: !this.#tx })
    this.#bind()
    return this.#em
  }

  get now(): Date {
    if (this.#now) return this.#now
    throw new Error(`${this.#call.operation.key} uses the time: its contract must say \`readsClock: true\``)
  }

  get actor() {
    return this.#call.actor
  }

  get sqlAfterCommit() {
    return sqlOn(this.#runtime.database.pool)
  }

  get requestId() {
    return this.#call.requestId
  }

  get address() {
    return this.#call.address
  }

  get runId() {
    return this.#call.run?.id ?? null
  }

  get systems() {
    return this.#runtime.ports.systems
  }

  get settings() {
    return this.#runtime.ports.settings
  }

  get service() {
    return this.#runtime.ports.service
  }

  get headers() {
    return this.#request.headers
  }

  get asCsv() {
    return isCsvForm(this.#call.operation.operation)
  }

  get rawBody() {
    return this.#request.body
  }

  get host() {
    return this.#request.host
  }

  get ending() {
    const { ending, operation } = this.#call
    if (ending) return ending
    throw new Error(`${operation.key} has no end to wait for: its contract must return what \`isEndless\``)
  }

  get #request(): RawRequest {
    const { request, operation } = this.#call
    if (request) return request
    throw new Error(`${operation.key} reads the request: its contract must say \`reads\``)
  }

  get tenant(): Tenant {
    if (!this.#tenant) throw new Error(`${this.#call.operation.key} has no tenant: call switchTenant first`)
    return this.#tenant
  }

  switchTenant = (tenant: Tenant, now?: Date): void => {
    const own = this.actor.tenant
    if (own && own.ownerId !== tenant.ownerId) throw new Error('a credential acts for its own owner only')
    // Only the clock of test mode can have been moved.
    if (own?.mode === 'test' && tenant.mode === 'live') this.#now = clock.real()
    this.#now = now ?? this.#now
    this.#tenant = tenant
    this.#bind()
  }

  runForOwner: RunForOwner = (...call) => {
    if (!this.#tx) throw new Error(`${this.#call.operation.key} reads: it runs nothing for another owner`)
    return this.#runtime.runForOwnerIn(this.#tx)(...call)
  }

  #bind(): void {
    if (this.#tenant && this.#em)
      this.#em.scope = { ...this.#tenant, ...actorReach(this.actor), now: this.#now }
  }

  emit = (event: string, data: unknown): void => {
    this.events.push(buildEvent(this.#declared, event, data, this))
  }

  queueStatement = (statement: Promise<unknown>): void => {
    this.pendingStatements.push(ignoreRejection(statement))
  }

  refuse = (code: string, message?: string): Refusal =>
    buildRefusal(this.#call.operation.operation, code, message)

  wake = (process: DurableProcess, record: ProcessRecord): void => {
    this.outbox.push(buildWakeUpRow(process, this.tenant, record))
  }

  withExclusiveRead = <T>(name: string, work: (sql: Sql) => Promise<T>): Promise<T | undefined> =>
    readExclusively(this.#runtime.database, name, work)

  withSnapshot = <T>(work: (sql: Sql) => Promise<T>): Promise<T> => readSnapshot(this.#runtime.database, work)

  page = async <T extends object>(
    entity: EntityClass<T>,
    where: FilterQuery<NoInfer<T>>,
    by = 'id' as keyof T & string,
    first?: number,
  ): Promise<RecordPage<T>> => {
    const read = (after: string | undefined, limit: number) => {
      const rest = after === undefined ? {} : { [by]: { $lt: after } }
      return this.em.rows<T>(entity, { $and: [where as object, rest] }, { orderBy: { [by]: 'desc' }, limit })
    }
    return this.#pageThrough(read, by, first)
  }

  pageBy = <T extends { id: string }>(
    read: (after: string | undefined, most: number) => Promise<T[]>,
  ): Promise<RecordPage<T>> => this.#pageThrough(read, 'id')

  tally = <T extends object>(
    entity: EntityClass<T>,
    where: FilterQuery<NoInfer<T>>,
    tally: Tally<T>,
  ): Promise<TallyRow[]> => this.em.tally(entity, where as object, tally)

  pageOf = <T extends { id: string }>(all: readonly T[]): RecordPage<T> => {
    const { limit, after } = this.#pageQuery()
    const start = after ? all.findIndex(({ id }) => id === after) + 1 : 0
    const rows = all.slice(start, start + limit)
    return this.#pageFrom({ rows, hasMore: start + limit < all.length }, 'id')
  }

  async #pageThrough<T extends object>(
    read: PageRequest<T>['read'],
    by: keyof T & string,
    first?: number,
  ): Promise<RecordPage<T>> {
    const keyOf = (row: T) => String(row[by])
    return this.#pageFrom(await readRecordPage({ read, keyOf, first, ...this.#pageQuery() }), by)
  }

  #pageQuery(): { limit: number; after: string | undefined } {
    const { limit, cursor } = this.#call.input.query as { limit: number; cursor?: string }
    const after = cursor === undefined ? undefined : this.#runtime.cursors.read(this.#listName(), cursor)
    if (cursor !== undefined && after === undefined) throw new Problem('invalid_cursor')
    return { limit, after }
  }

  #pageFrom<T extends object>({ rows, hasMore }: PageRows<T>, by: keyof T): RecordPage<T> {
    this.#keys = rows.map(row => String(row[by]))
    return { data: rows, hasMore, nextCursor: hasMore ? this.cursorAfter(rows.length - 1) : null }
  }

  cursorAfter = (index: number): string =>
    this.#runtime.cursors.write(this.#listName(), this.#keys[index] as string)

  /** Identifies the list that a cursor belongs to: operation, caller, path and filters. */
  #listName(): string {
    const { limit: _limit, cursor: _cursor, ...filters } = this.#call.input.query as Record<string, unknown>
    const { key } = this.#call.operation
    return [
      key,
      tenantKey(this.#tenant, this.actor.agentId),
      JSON.stringify([this.#call.input.params, filters], (_, value) =>
        typeof value === 'bigint' ? String(value) : value,
      ),
    ].join('|')
  }

  callOperation: CallOperation = (operation, ...[question]) => {
    const caller = this.#now ? { ...this.#call, now: this.#now } : this.#call
    return this.#runtime.callOperationFor(caller, operation as AnyOperation, question as object) as never
  }

  /** A reaction acts for the tenant of its events, at their time: the handler may have switched since. */
  runReactions = async (): Promise<void> => {
    const [declared, tenant, now] = [this.#declared, this.#tenant, this.#now]
    while (this.#reactedTo < this.events.length) {
      const { first, alike } = this.#nextEvents()
      const { ownerId, mode, createdAt } = first
      for (const reaction of this.#runtime.reactions.get(first.event) ?? []) {
        const concerned = alike.filter(data => reaction.concerns?.(data) ?? true)
        if (concerned.length === 0) continue
        // Sent before the reaction's reads, so it reads what was changed.
        await this.handOver()
        if (!isOfTenant(first, this.#tenant)) this.switchTenant({ ownerId, mode }, createdAt)
        this.#declared = reaction.emits
        await reaction.run(concerned, this as Context<never, EventSchemas>)
      }
    }
    this.#declared = declared
    if (!tenant || isOfTenant(tenant, this.#tenant)) return
    await this.handOver()
    this.switchTenant(tenant, now)
  }

  /** Sends the changes of records. The commit waits for the answers, and fails with them. */
  async handOver(): Promise<void> {
    const handedOver = await this.#em?.handOver()
    for (const statement of handedOver?.sent ?? []) this.queueStatement(statement)
  }

  #nextEvents(): { first: EventRow; alike: EventRow['data'][] } {
    const from = this.#reactedTo
    const first = this.events[from] as EventRow
    const isAlike = (one: EventRow | undefined) => one?.event === first.event && isOfTenant(one, first)
    while (isAlike(this.events[this.#reactedTo])) this.#reactedTo++
    return { first, alike: this.events.slice(from, this.#reactedTo).map(({ data }) => data) }
  }
}
