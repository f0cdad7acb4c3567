import { z } from 'zod'
import { about } from './setting.ts'

/** The language model that answers what the grammar of the conversation does not know. */
export const canvasSettings = {
  canvasModelUrl: about(z.url({ protocol: /^https?$/ }).optional(), {
    meaning:
      'Address of a server that speaks the chat-completions protocol, up to `/v1`. What people ask, and what operations answer to them, is sent there. Inside your network it needs `OUTBOUND_ALLOW_CIDRS`.',
    allowed: 'an http or https URL',
    otherwise: 'none: the conversation understands what its grammar knows',
  }),
  canvasModel: about(z.string().min(1).max(200).optional(), {
    meaning: 'The model that the server of `CANVAS_MODEL_URL` is asked for.',
    allowed: 'a text',
    otherwise: '`default`',
  }),
  canvasModelKey: about(z.string().min(1).max(1_000).optional(), {
    meaning: 'The key that the server of `CANVAS_MODEL_URL` wants.',
    secret: true,
    allowed: 'a text',
    otherwise: 'none',
  }),
}

interface ModelSettings {
  readonly canvasModelUrl?: string | undefined
  readonly canvasModel?: string | undefined
  readonly canvasModelKey?: string | undefined
}

/** The model that the settings name; null where they name none. */
export const modelOf = ({ canvasModelUrl, canvasModel, canvasModelKey }: ModelSettings) =>
  canvasModelUrl === undefined
    ? null
    : { url: canvasModelUrl, model: canvasModel ?? 'default', key: canvasModelKey }
