-- Area: commerce. A shared payment token shows no digits of its card.
alter table mpp_settlements drop constraint mpp_settlements_last4_check,
  add constraint mpp_settlements_last4_check check (last4 ~ '^([0-9]{4})?$');
