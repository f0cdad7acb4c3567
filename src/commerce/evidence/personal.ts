import type { Personal } from '../../values/personal.ts'

export const evidencePersonal = {
  evidence: {
    personal: {
      note: { kind: 'words', ground: 'claims', forget: 'word' },
      text: { kind: 'words', ground: 'claims', forget: 'word' },
      file_name: { kind: 'words', ground: 'claims', forget: 'word' },
      sha256: { kind: 'payment', ground: 'claims', forget: 'digest' },
      view_sha256: { kind: 'payment', ground: 'claims', forget: 'digest' },
    },
    plain: ['type', 'media_type'],
    files: ['sha256', 'view_sha256'],
  },
} as const satisfies Personal
