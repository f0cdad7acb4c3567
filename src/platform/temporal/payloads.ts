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

/** Anybody may signal anything: what cannot be read arrives as null, where it would fail the task again and again. */
export const legible: PayloadCodec = {
  encode: async payloads => payloads,
  decode: async payloads => payloads.map(payload => (isLegible(payload) ? payload : NOTHING)),
}
