import { isNotAbout, type Personal } from '../../values/personal.ts'

export const railsPersonal = {
  sepa_files: {
    personal: {
      content: { kind: 'payment', ground: 'vouchers', forget: 'word' },
    },
    plain: ['scheme', 'message_id', 'sha256'],
    owner: null,
  },
  sepa_messages: {
    personal: {
      payments: { kind: 'payment', ground: 'vouchers', forget: 'empty' },
      credits: { kind: 'payment', ground: 'vouchers', forget: 'null' },
    },
    plain: ['sha256', 'kind', 'message_id'],
    owner: null,
  },
  sepa_notices: {
    personal: {
      payee_check: { kind: 'name', ground: 'vouchers', forget: 'null' },
    },
    plain: ['message_id', 'notice', 'reason_code'],
    keptWhile: {
      where: isNotAbout(
        'transfers',
        't.transfer_id',
        row => `${row}.status = 'cancelled' and ${row}.submitted_at is null`,
      ),
      words: 'its transfer was not cancelled before its submission',
    },
    about: {
      beneficiary: [
        '(select f.beneficiary_id from transfers f where (f.owner_id, f.mode, f.id) = (t.owner_id, t.mode, t.transfer_id))',
      ],
    },
  },
  sepa_instructions: {
    personal: {
      payee: { kind: 'name', ground: 'vouchers', forget: 'empty' },
      reference: { kind: 'words', ground: 'vouchers', forget: 'word' },
    },
    plain: ['file_id', 'end_to_end_id'],
  },
} as const satisfies Personal
