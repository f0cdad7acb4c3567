import type { Tenant } from '../../kernel/contract/actor.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Customer } from '../customers/index.ts'
import { missingForCompany } from '../onboarding/index.ts'
import type { kycApi } from './api.ts'
import { type Rejection, rejectionInWords, type SubmissionStatus } from './submission.ts'

interface Holder extends Row {
  readonly type: Customer['type']
  readonly kycStatus: Customer['kycStatus']
  readonly submissionId: string | null
  readonly status: SubmissionStatus | null
  readonly rejection: Rejection | null
}

const HOLDER = `
select c.type, c.kyc_status as "kycStatus", s.id as "submissionId", s.status, s.rejection
from customers c
left join lateral (
  select k.id, k.status, k.rejection from kyc_submissions k
  where k.owner_id = $1 and k.mode = $2 and k.representative_id is null order by k.id desc limit 1) s on true
where c.id = $1`

async function findHolder(sql: Sql, { ownerId, mode }: Tenant): Promise<Holder> {
  const [holder] = await sql<Holder>(HOLDER, [ownerId, mode])
  if (!holder) throw new Error('a tenant without a customer')
  return holder
}

/** What is missing before an individual can make live keys. */
function missingOf({ status, submissionId, rejection }: Holder): string {
  if (submissionId === null || status === null)
    return 'who you are: upload documents by POST /kyc/documents, then send POST /kyc/submissions'
  if (rejection) return `who you are: the last submission was rejected. ${rejectionInWords(rejection)}`
  return `the end of the identity check: see GET /kyc/submissions/${submissionId}`
}

/** In words, what is missing before the tenant's owner can make live keys; empty once they can. */
export async function missingIdentity(sql: Sql, tenant: Tenant): Promise<readonly string[]> {
  return missingFor(await findHolder(sql, tenant), sql, tenant)
}

async function missingFor(holder: Holder, sql: Sql, tenant: Tenant): Promise<string[]> {
  if (holder.kycStatus === 'verified') return []
  return holder.type === 'business' ? missingForCompany(sql, tenant) : [missingOf(holder)]
}

export const standing: HandlerOf<typeof kycApi.standing> = async (_, { sql, tenant }) => {
  const holder = await findHolder(sql, tenant)
  const { type, kycStatus, submissionId, rejection } = holder
  return {
    customerType: type,
    kycStatus,
    canMakeLiveKeys: kycStatus === 'verified',
    missing: await missingFor(holder, sql, tenant),
    submissionId,
    rejection,
  }
}
