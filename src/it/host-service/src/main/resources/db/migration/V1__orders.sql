create table orders (
  id text not null primary key,
  snack text not null,
  quantity integer not null check (quantity > 0)
) strict;
