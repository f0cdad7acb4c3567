-- With KYC_PROVIDER=none the installation verifies its one customer.
alter table kyc_submissions drop constraint kyc_submissions_decided_by_check,
  add constraint kyc_submissions_decided_by_check check (decided_by in ('provider', 'operator', 'installation'));
