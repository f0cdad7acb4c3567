import { AnswerNow } from '../../../kernel/contract/handlers.ts'
import type { Answer, Refusal, WithHeaders } from '../../../kernel/contract/problem.ts'
import { type Credential, credentialDigest, isUnusable, parseCredential } from '../../../mpp/index.ts'
import { type LiveKey, liveKeys } from '../../mpp-keys/index.ts'
import { answerAgain, ask, type Params, type PayContext, type Payee, presentedIn } from './answers.ts'
import type { Article } from './article.ts'
import { settlementOf } from './begin-settlement.ts'
import { checkCredential } from './check-credential.ts'
import type { SealedToken } from './take-token.ts'

/** A credential whose token is to be read next. */
export interface Reading {
  readonly step: 'read'
  readonly params: Params
  readonly article: Article
  readonly digest: string
  readonly sealed: SealedToken
}

type NotRead<R> = AnswerNow<R> | Refusal | WithHeaders<Refusal>

/** Checks all of a credential that is told without its token. */
export async function readCredential<R>(
  payee: Payee<R>,
  params: Params,
  context: PayContext,
): Promise<Reading | NotRead<R>> {
  const article = await payee.find(params, context)
  if (!article) return context.refuse('request_not_found')
  const presented = presentedIn(context) ?? ''
  const credential = parseCredential(presented)
  if (isUnusable(credential)) return ask(article, 'credential_malformed', credential.problem, context)
  const { method, intent, id } = credential.challenge
  if (method !== 'card' || intent !== 'charge') return context.refuse('method_not_offered')
  const digest = credentialDigest(presented)
  const [settlement, keys] = await Promise.all([settlementOf(id, context), liveKeys(context)])
  if (settlement) return known(await answerAgain(payee, article, settlement, digest, context))
  const sealed = sealedToken(credential, article, keys, context)
  return 'jwe' in sealed ? { step: 'read', params, article, digest, sealed } : sealed
}

function sealedToken(
  credential: Credential,
  article: Article,
  keys: readonly LiveKey[],
  context: PayContext,
): SealedToken | Refusal | WithHeaders<Refusal> {
  const { host, rawBody: body } = context
  const checked = checkCredential(credential, article, keys, { host, body })
  if ('code' in checked) return ask(article, checked.code, checked.message, context)
  if (article.ended) return context.refuse(article.ended)
  const {
    payload,
    key: { jwk, privateKey },
  } = checked
  const { id: challengeId } = credential.challenge
  return { jwe: payload.encryptedPayload, kid: jwk.kid, privateKey, challengeId, network: payload.network }
}

/** An answer from which no call follows. */
const known = <R>(answer: Answer<R>): NotRead<R> => new AnswerNow(answer)
