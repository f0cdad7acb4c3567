import { type UnusableInput, unusableInput } from './base64url.ts'

/** A method and an intent that a client can pay with, `*` for any, and its preference from 0 (never) to 1. */
export interface AcceptedPaymentMethod {
  readonly method: string
  readonly intent: string
  readonly quality: number
}

const MOST_TEXT = 4_096
const MOST_ENTRIES = 50
const ENTRY =
  /^([a-z0-9:_-]{1,64}|\*)[ \t]*(?:\/[ \t]*([a-z0-9:_-]{1,64}|\*)[ \t]*)?(?:;[ \t]*q[ \t]*=[ \t]*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i

/** Parses `card/charge, tempo/*;q=0.5`. A method alone stands for all its intents. */
export function parseAcceptPayment(header: string): readonly AcceptedPaymentMethod[] | UnusableInput {
  if (header.length > MOST_TEXT) return unusableInput(`Accept-Payment has more than ${MOST_TEXT} characters.`)
  const entries = header
    .split(',')
    .map(entry => entry.trim())
    .filter(entry => entry !== '')
  if (entries.length === 0) return unusableInput('Accept-Payment is empty.')
  if (entries.length > MOST_ENTRIES)
    return unusableInput(`Accept-Payment has more than ${MOST_ENTRIES} entries.`)
  const read = entries.map(entry => ENTRY.exec(entry))
  if (read.includes(null))
    return unusableInput('Accept-Payment has an entry that is not of the form method/intent;q=quality.')
  return read.map(match => ({
    method: match?.[1] ?? '*',
    intent: match?.[2] ?? '*',
    quality: Number(match?.[3] ?? 1),
  }))
}

/** The most specific matching entry decides; 0 if none matches. */
export function acceptedQuality(
  accepted: readonly AcceptedPaymentMethod[],
  method: string,
  intent: string,
): number {
  const fitting = accepted
    .filter(entry => ['*', method].includes(entry.method) && ['*', intent].includes(entry.intent))
    .toSorted((a, b) => exactness(b) - exactness(a))
  return fitting[0]?.quality ?? 0
}

const exactness = ({ method, intent }: AcceptedPaymentMethod): number =>
  Number(method !== '*') * 2 + Number(intent !== '*')
