import { sandboxProcessor } from '../../../src/adapters/card-processor/sandbox.ts'
import type { NewCard, ProcessorCall } from '../../../src/ports/card-processor.ts'
import { deriveSecrets } from '../../../src/ports/vault.ts'

export const secretsOf = (key: string, old: readonly string[] = []) => ({
  numbers: deriveSecrets('sandbox card numbers', key, old),
  messages: deriveSecrets('sandbox card messages', key, old),
})

export const KEY = '1'.repeat(64)

export const sandboxWith = (key = KEY, old: readonly string[] = []) => sandboxProcessor(secretsOf(key, old))

export const requestedAt = new Date('2026-11-20T09:30:00.000Z')

export const newCard = (more: Partial<NewCard> = {}): NewCard => ({
  cardId: 'card_1',
  ownerId: 'customer_1',
  displayName: 'Books',
  requestedAt,
  holder: { name: 'Ada', email: 'ada@example.com', type: 'individual', phone: null, address: null },
  controls: {
    maxTransactionCents: null,
    dailyLimitCents: null,
    monthlyLimitCents: null,
    allowedCountries: [],
    allowedMccs: [],
    blockedMccs: [],
  },
  ...more,
})

export const callOf = (reference: string, now = requestedAt): ProcessorCall => ({
  reference,
  requestId: 'request-1',
  now,
})
