import type { PersonalData } from '../../values/personal.ts'

/** What is personal in the tables of the kernel. */
export const kernelPersonal = {
  tenant_clocks: {
    personal: {},
    plain: [],
  },
  idempotency_keys: {
    personal: {
      body: { kind: 'payment', ground: 'security', forget: { value: '{}' } },
      reservation: { kind: 'payment', ground: 'security', forget: 'null' },
    },
    plain: ['operation', 'key', 'request_hash', 'error_code', 'link', 'leased_by', 'reserved_by', 'asked_by'],
  },
  outbox: {
    personal: {},
    plain: ['process', 'input', 'leased_by'],
  },
  deadlines: {
    personal: {},
    plain: ['kind'],
  },
  stored_files: {
    personal: {},
    plain: ['sha256', 'used_by', 'type'],
  },
  file_usage: {
    personal: {},
    plain: [],
  },
  rate_limits: {
    personal: {
      client: { kind: 'network', ground: 'security', forget: 'pseudonym' },
    },
    plain: [],
    owner: null,
  },
  wrong_guesses: {
    personal: {
      guesser: { kind: 'network', ground: 'security', forget: 'pseudonym' },
    },
    plain: [],
    owner: null,
  },
  applied_functions: {
    personal: {},
    plain: ['name', 'checksum'],
    owner: null,
  },
  journal_origin: {
    personal: {},
    plain: [],
    owner: null,
  },
  migration_checksums: {
    personal: {},
    plain: ['name', 'checksum'],
    owner: null,
  },
  process_leases: {
    personal: {},
    plain: ['kind'],
    owner: null,
  },
  used_proofs: {
    personal: {},
    plain: ['digest'],
    owner: null,
  },
} as const satisfies PersonalData
