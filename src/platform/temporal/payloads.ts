import { defaultPayloadConverter, type Payload, type PayloadCodec } from '@temporalio/common'

const NOTHING = defaultPayloadConverter.toPayload(null)

function isLegible(payload: Payload): boolean {
  try {
    defaultPayloadConverter.fromPayload(payload)
    return true
  } catch {
    return false
  }
}

/**
 * Decodes an unreadable payload as null: an operator may signal anything, and an error would fail the task for ever.
 */
export const legible: PayloadCodec = {
  encode: async payloads => payloads,
  decode: async payloads => payloads.map(payload => (isLegible(payload) ? payload : NOTHING)),
}
