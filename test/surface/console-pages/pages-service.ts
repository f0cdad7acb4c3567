import { startTestService } from '../../support/harness.ts'

export const service = await startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })

/** Passkeys exist under localhost, never under 127.0.0.1. */
export const origin = service.url.replace('127.0.0.1', 'localhost')

export const german = { 'accept-language': 'de-DE,de;q=0.9' }

export const readPage = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${origin}${path}`, { headers, redirect: 'manual' })
