import type { Context } from '../../kernel/contract/context.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { hashSecret, newSecret } from '../../kernel/database/credential.ts'
import { clientAddressKey } from '../../values/client-of.ts'
import { addMs, clock } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { DeviceSession, livePlatformTenant, type SessionKind } from './session.ts'

const MAX_WAITING = 100

const WAITING = `
select count(*)::int as waiting from sessions
where owner_id = $1 and mode = $2 and client = $3 and kind = $4 and ends_at > $5
  and status in ('requested', 'pending')`

const LOCK_CLIENT = 'select pg_advisory_xact_lock(hashtextextended($1, 0))'

async function hasRoom({ name }: SessionKind, client: string, now: Date, sql: Sql): Promise<boolean> {
  const values = [livePlatformTenant.ownerId, livePlatformTenant.mode, client, name, now]
  const [, [row]] = await Promise.all([
    sql(LOCK_CLIENT, [`${name} requests from ${client}`]),
    sql<{ waiting: number } & Row>(WAITING, values),
  ])
  return (row?.waiting ?? 0) < MAX_WAITING
}

type Asked = Pick<DeviceSession, 'deviceName' | 'clientType' | 'toolWrites'> &
  Partial<
    Pick<DeviceSession, 'deviceId' | 'scopes' | 'boundTo' | 'userHash' | 'pairingCode' | 'codeChallenge'>
  >

/** Returns the request with its only code; undefined if a hundred of its kind already wait at its address. */
export async function beginRequest(
  kind: SessionKind,
  asked: Asked,
  { em, sql, switchTenant, address }: Context,
): Promise<{ readonly request: DeviceSession; readonly code: string } | undefined> {
  const now = clock.real()
  const client = clientAddressKey(address ?? '')
  switchTenant(livePlatformTenant, now)
  if (!(await hasRoom(kind, client, now, sql))) return undefined
  const code = newSecret(kind.codePrefix)
  const endsAt = addMs(now, kind.codeTtlMs)
  const request = em.create(DeviceSession, {
    ...asked,
    id: newId(kind.idPrefix),
    kind: kind.name,
    status: kind.machine.initial,
    createdAt: now,
    hash: hashSecret(code),
    address,
    client,
    intervalSeconds: kind.pollIntervalS,
    endsAt,
    forgetAt: addMs(endsAt, kind.retentionMs),
  })
  return { request, code }
}
