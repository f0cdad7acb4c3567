import { readHolderNames, readPerson } from '../../identity/customers/index.ts'
import { readEmailedLink } from '../../identity/people/index.ts'
import type { SqlContext } from '../../kernel/contract/context.ts'
import type { RunningService, Systems } from '../../kernel/contract/ports.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { clock } from '../../values/clock.ts'
import { type Language, languages } from '../../web/language.ts'
import { type ChannelType, channelCodeContext, channelUrlContext, isWithinHours } from './channel.ts'
import type { ChannelMessage } from './message-rows.ts'
import { includesDetails, isAsked, type Question, questionPath, readQuestion } from './questions.ts'
import { type Content, codeContent, linkContent, questionContent } from './texts.ts'

/** Where a message goes, and what it says: in several languages where that of the person is unknown. */
export interface ComposedMessage {
  readonly to:
    | { readonly type: 'email'; readonly address: string }
    | { readonly type: 'slack' | 'teams'; readonly url: string }
  contents(isLastOfHour: boolean): readonly Content[]
}

export interface ComposeContext extends SqlContext {
  readonly systems: Pick<Systems, 'vault'>
  readonly service: Pick<RunningService, 'pageUrl'>
}

interface ChannelRow extends Row {
  readonly id: string
  readonly type: ChannelType
  readonly url: string | null
  readonly language: Language
  readonly hoursFrom: number | null
  readonly hoursTo: number | null
  readonly code: string | null
  readonly codeExpiresAt: Date | null
}

const CHANNEL = `
select id, type, url, language, hours_from as "hoursFrom", hours_to as "hoursTo", code, code_expires_at as "codeExpiresAt"
from channels where (owner_id, mode, id) = ($1, $2, $3)`

/** Undefined for what is not to be sent any more, such as a question that has been decided. */
export async function composeMessage(
  message: ChannelMessage,
  context: ComposeContext,
): Promise<ComposedMessage | undefined> {
  const { ownerId, mode, kind, subjectId, channelId, personId } = message
  const person = await readPerson(personId, context)
  if (!person) return undefined
  if (kind === 'link') return composeLink(subjectId, person.email, context)
  const [channel] = await context.sql<ChannelRow>(CHANNEL, [ownerId, mode, channelId])
  const to = channel && receiverOf(channel, person.email, context)
  if (!to) return undefined
  const write =
    kind === 'code'
      ? codeOf(channel, context)
      : await questionFor(channel, { kind, subjectId }, personId, context)
  return write && { to, contents: isLastOfHour => [write(isLastOfHour)] }
}

function receiverOf({ id, type, url }: ChannelRow, email: string | null, { systems }: ComposeContext) {
  if (type === 'email') return email === null ? undefined : ({ type, address: email } as const)
  return url === null ? undefined : ({ type, url: systems.vault.open(url, channelUrlContext(id)) } as const)
}

type Write = (isLastOfHour: boolean) => Content

function codeOf(
  { id, code, codeExpiresAt, language }: ChannelRow,
  { systems }: ComposeContext,
): Write | undefined {
  if (code === null || codeExpiresAt === null || codeExpiresAt <= clock.real()) return undefined
  return () => codeContent(systems.vault.open(code, channelCodeContext(id)), language)
}

async function questionFor(
  channel: ChannelRow,
  question: Question,
  personId: string,
  context: ComposeContext,
): Promise<Write | undefined> {
  if (channel.code !== null || !isWithinHours(channel, clock.real())) return undefined
  const [isReceiver, facts, hasDetails] = await Promise.all([
    isAsked(question, personId, context),
    readQuestion(question, context),
    includesDetails(context),
  ])
  if (!facts || !isReceiver) return undefined
  const url = context.service.pageUrl(questionPath(question))
  const texts = { kind: question.kind, facts, url, isTest: context.tenant.mode === 'test', hasDetails }
  return isLastOfHour => questionContent({ ...texts, isLastOfHour }, channel.language)
}

async function composeLink(
  id: string,
  email: string | null,
  context: ComposeContext,
): Promise<ComposedMessage | undefined> {
  const { ownerId } = context.tenant
  const [link, names] = await Promise.all([
    readEmailedLink(id, context, context.systems),
    readHolderNames(context.sql, [ownerId]),
  ])
  if (!link || email === null) return undefined
  const texts = { kind: link.kind, url: link.url, account: names.get(ownerId) ?? ownerId }
  return {
    to: { type: 'email', address: email },
    contents: () => languages.map(language => linkContent(texts, language)),
  }
}
