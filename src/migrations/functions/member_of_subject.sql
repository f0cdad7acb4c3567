-- By which member the data of an event names a subject of this type.
create or replace function member_of_subject(subject_type text) returns text language sql immutable as $$
  select case subject_type when 'person' then 'personId' when 'beneficiary' then 'beneficiaryId' when 'payer' then 'requestId'
    when 'merchant' then 'merchantId' end
$$;
