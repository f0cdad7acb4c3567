import type { Personal } from '../../values/personal.ts'

export const evidencePersonal = {
  evidence: {
    personal: {
      note: { kind: 'words', ground: 'claims' },
      text: { kind: 'words', ground: 'claims' },
      file_name: { kind: 'words', ground: 'claims' },
      sha256: { kind: 'payment', ground: 'claims' },
      view_sha256: { kind: 'payment', ground: 'claims' },
    },
    plain: ['type', 'media_type'],
    files: ['sha256', 'view_sha256'],
  },
} as const satisfies Personal
