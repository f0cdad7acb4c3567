-- Area: compliance. Merchants call nothing themselves: their keys end, and so does the public key that only they could set.
drop table merchant_keys;
alter table merchant_applications drop column public_key_jwk;
