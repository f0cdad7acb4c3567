import type { EmitContext, SqlContext } from '../../kernel/contract/context.ts'
import type { RefusalSpec } from '../../kernel/contract/operation.ts'
import type { Systems } from '../../kernel/contract/ports.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { addMs, days } from '../../values/clock.ts'
import { type Person, personEvent } from '../customers/index.ts'
import { personLinkContext } from './link.ts'
import type { personEvents } from './schemas.ts'

export const linkEmailRefusals = {
  mail_not_configured: [
    400,
    'send: this installation sends no e-mail. Leave send out and hand over the link, or have its operator set SMTP_URL and MAIL_FROM.',
  ],
  email_missing: [
    400,
    'send: the person has no email address. Set one, or leave send out and hand over the link.',
  ],
  email_changed_recently: [
    400,
    'send: the email address was not on record 24 hours before this was asked for. Wait, or leave send out and hand over the link.',
  ],
} as const satisfies Record<string, RefusalSpec>

/** Who changes an address could otherwise send themselves another person’s access. */
const ON_RECORD_MS = days(1)

/** Why the link is not sent by e-mail; undefined if it is. `askedAt`: when the invitation or the recovery was asked for. */
export function linkEmailBlocker(
  { email, emailChangedAt }: Pick<Person, 'email' | 'emailChangedAt'>,
  askedAt: Date,
  { mail }: Pick<Systems, 'mail'>,
): keyof typeof linkEmailRefusals | undefined {
  if (!mail) return 'mail_not_configured'
  if (email === null) return 'email_missing'
  return emailChangedAt !== null && emailChangedAt > addMs(askedAt, -ON_RECORD_MS)
    ? 'email_changed_recently'
    : undefined
}

export const emitLinkEmailed = (
  person: Person,
  linkId: string,
  { emit }: EmitContext<Pick<typeof personEvents, 'person.link_emailed'>>,
): void => emit('person.link_emailed', { ...personEvent(person), linkId })

interface EmailedLink {
  readonly personId: string
  readonly kind: 'join' | 'recovery'
  readonly url: string
}

const EMAILED = `
select person_id as "personId", kind, url from person_links
where (owner_id, mode, id) = ($1, $2, $3) and url is not null and used_at is null and revoked_at is null
  and expires_at > clock_timestamp()`

/** Undefined once it has been used, replaced, or sent. */
export async function readEmailedLink(
  id: string,
  { sql, tenant: { ownerId, mode } }: SqlContext,
  { vault }: Pick<Systems, 'vault'>,
): Promise<EmailedLink | undefined> {
  const [link] = await sql<EmailedLink & Row>(EMAILED, [ownerId, mode, id])
  return link && { ...link, url: vault.open(link.url, personLinkContext(id)) }
}

/** Its digest is enough from here on. */
export const forgetEmailedLink = (
  id: string,
  { sql, tenant: { ownerId, mode } }: SqlContext,
): Promise<unknown> =>
  sql('update person_links set url = null where (owner_id, mode, id) = ($1, $2, $3)', [ownerId, mode, id])
