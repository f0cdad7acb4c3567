-- Area: identity. The statement of a change by which more may be spent, which people in the console sign.
alter table passkey_challenges drop constraint passkey_challenges_kind_check,
  add constraint passkey_challenges_kind_check
    check (kind in ('intent', 'payment', 'mandate', 'revocation', 'enrolment', 'invitation', 'key', 'deletion',
      'device', 'pairing', 'registration', 'sign_in', 'widening'));
